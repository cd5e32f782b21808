/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * The topologies and traffic of ns-3's own TCP examples and tutorial, with the stack chosen on the
 * command line: ns-3's, or a real Linux kernel on every node.
 *
 *   viaduct-kernel-scenarios --scenario=dumbbell --stack=kernel
 *   viaduct-kernel-scenarios --scenario=bulk --stack=kernel --factory=ns3::KernelSctpSocketFactory
 *
 * Prints the bytes that each sink received, and the time of the last byte. --pcap=PREFIX captures
 * on kernel nodes.
 */

#include "kernel-example.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/viaduct-module.h"

#include "base/error.h"

#include <iostream>
#include <map>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint16_t PORT = 8080;

/** Sends packets of one size at a constant rate over a given socket, like the class of the same
 * name in ns-3's tutorial. */
class TutorialApp : public Application
{
  public:
    /**
     * @param socket the socket that sends
     * @param peer the address that the socket connects to
     * @param packets the number of packets, of 1040 bytes, at 1 Mbit/s
     */
    TutorialApp(Ptr<Socket> socket, const Address& peer, uint32_t packets)
        : m_socket(socket), m_peer(peer), m_left(packets)
    {
    }

  private:
    void StartApplication() override
    {
        // Bind() or Bind6() is called, depending on the family of the peer's address, because a
        // kernel's socket must know the family before it connects.
        InetSocketAddress::IsMatchingType(m_peer) ? m_socket->Bind() : m_socket->Bind6();
        m_socket->Connect(m_peer);
        SendPacket();
    }

    void StopApplication() override
    {
        m_event.Cancel();
        m_socket->Close();
    }

    void SendPacket()
    {
        m_socket->Send(Create<Packet>(1040));
        if (--m_left > 0)
        {
            m_event = Simulator::Schedule(
                DataRate("1Mbps").CalculateBytesTxTime(1040), &TutorialApp::SendPacket, this);
        }
    }

    Ptr<Socket> m_socket;
    Address m_peer;
    uint32_t m_left;
    EventId m_event;
};

/** The common part of all scenarios. */
class Scenario
{
  public:
    std::string stack = "ns3";                     //!< ns3 or kernel
    std::string factory = "ns3::TcpSocketFactory"; //!< the factory of all sockets
    std::string pcap;                              //!< prefix of capture files

    /** Sets up ns-3's example tcp-bulk-send: a link of 500 kbit/s and 5 ms, and ten seconds of
     * sending at the maximum rate. */
    void Bulk()
    {
        MakeNodes(2);
        CheckFactory(factory, m_nodes.Get(0), true);
        const Address to = Link(0, 1, "500Kbps", "5ms");
        AddSink(1);
        BulkSendHelper source(factory, to);
        source.SetAttribute("MaxBytes", UintegerValue(0));
        source.Install(m_nodes.Get(0)).Stop(Seconds(10));
        m_stop = Seconds(10);
    }

    /** Sets up the tutorial's example fifth: 1000 packets at 1 Mbit/s, a link of 5 Mbit/s and 2 ms
     * with errors. */
    void Fifth()
    {
        MakeNodes(2);
        CheckFactory(factory, m_nodes.Get(0), false);
        const Address to = Link(0, 1, "5Mbps", "2ms");
        auto errors = CreateObject<RateErrorModel>();
        errors->SetAttribute("ErrorRate", DoubleValue(0.00001));
        m_nodes.Get(1)->GetDevice(1)->SetAttribute("ReceiveErrorModel", PointerValue(errors));
        AddSink(1);
        auto app = CreateObject<TutorialApp>(MakeSocket(0), to, 1000);
        m_nodes.Get(0)->AddApplication(app);
        app->SetStartTime(Seconds(1));
        app->SetStopTime(Seconds(20));
        m_stop = Seconds(20);
    }

    /** Sets up ns-3's example star: a hub, and eight nodes that each send 137-byte packets at 14
     * kbit/s to the hub. */
    void Star()
    {
        constexpr uint32_t SPOKES = 8;
        MakeNodes(SPOKES + 1);
        CheckFactory(factory, m_nodes.Get(0), false);
        AddSink(0);
        for (uint32_t i = 1; i <= SPOKES; ++i)
        {
            OnOffHelper source(factory, Link(i, 0, "5Mbps", "2ms"));
            source.SetConstantRate(DataRate("14kb/s"), 137);
            auto application = source.Install(m_nodes.Get(i));
            application.Start(Seconds(1));
            application.Stop(Seconds(10));
        }
        m_stop = Seconds(12);
    }

    /** Sets up a dumbbell: two senders and two receivers, links of 10 Mbit/s to two routers, and a
     * link of 1 Mbit/s and 20 ms between the routers. */
    void Dumbbell()
    {
        MakeNodes(6); // nodes 0, 1: senders; 2, 3: routers; 4, 5: receivers
        CheckFactory(factory, m_nodes.Get(0), true);
        Link(0, 2, "10Mbps", "1ms");
        Link(1, 2, "10Mbps", "1ms");
        Link(2, 3, "1Mbps", "20ms");
        for (uint32_t i = 0; i < 2; ++i)
        {
            const Address to = Link(3, 4 + i, "10Mbps", "1ms");
            AddSink(4 + i);
            BulkSendHelper(factory, to).Install(m_nodes.Get(i)).Start(Seconds(1));
        }
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        m_stop = Seconds(21);
    }

    /** Sets up transfers over every transport of the kernel and over IPv4 and IPv6, of 100 packets
     * of 1000 bytes each. */
    void Transports()
    {
        MakeNodes(2);
        Link(0, 1, "100Mbps", "2ms");
        const NetDeviceContainer ends(m_nodes.Get(0)->GetDevice(1), m_nodes.Get(1)->GetDevice(1));
        const auto ends6 = Ipv6AddressHelper(Ipv6Address("fd00::"), Ipv6Prefix(64)).Assign(ends);
        for (const char* name : {"Tcp", "Udp", "Mptcp", "Sctp", "Dccp"})
        {
            factory = std::string("ns3::Kernel") + name + "SocketFactory";
            const auto port = static_cast<uint16_t>(PORT + m_sinks.size());
            Flow(InetSocketAddress(Ipv4Address::GetAny(), port),
                 InetSocketAddress(Ipv4Address("10.1.1.2"), port));
            Flow(Inet6SocketAddress(Ipv6Address::GetAny(), port + 1),
                 Inet6SocketAddress(ends6.GetAddress(1, 1), port + 1));
        }
        m_stop = Seconds(4);
    }

    /** Runs the simulation and prints the results. */
    void Run()
    {
        if (!pcap.empty())
        {
            KernelStackHelper::EnablePcap(pcap, m_nodes);
        }
        Simulator::Stop(m_stop);
        Simulator::Run();
        for (size_t i = 0; i < m_sinks.size(); ++i)
        {
            std::cout << "sink " << i << ": " << m_sinks[i]->GetTotalRx()
                      << " bytes, last received at " << m_last[i].GetSeconds() << " s" << std::endl;
        }
    }

  private:
    void MakeNodes(uint32_t count)
    {
        m_nodes.Create(count);
        if (stack == "kernel")
        {
            KernelStackHelper().Install(m_nodes);
        }
        else if (stack == "ns3")
        {
            InternetStackHelper().Install(m_nodes);
        }
        else
        {
            throw viaduct::UsageError("--stack=" + stack + ": expected ns3 or kernel");
        }
    }

    /** Creates a link between two nodes; @return the second node's address */
    Address Link(uint32_t a, uint32_t b, const std::string& rate, const std::string& delay)
    {
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue(rate));
        link.SetChannelAttribute("Delay", StringValue(delay));
        const auto ends = m_addresses.Assign(link.Install(m_nodes.Get(a), m_nodes.Get(b)));
        m_addresses.NewNetwork();
        return InetSocketAddress(ends.GetAddress(1), PORT);
    }

    /** Sets up a transfer of 100 packets from the first node to the second. */
    void Flow(const Address& any, const Address& to)
    {
        AddSink(1, any);
        OnOffHelper source(factory, to);
        source.SetConstantRate(DataRate("1Mbps"), 1000);
        source.SetAttribute("MaxBytes", UintegerValue(100000));
        source.Install(m_nodes.Get(0)).Start(Seconds(1));
    }

    void AddSink(uint32_t node, const Address& any = InetSocketAddress(Ipv4Address::GetAny(), PORT))
    {
        PacketSinkHelper helper(factory, any);
        auto sink = DynamicCast<PacketSink>(helper.Install(m_nodes.Get(node)).Get(0));
        m_last.push_back(Time());
        sink->TraceConnectWithoutContext(
            "Rx",
            Callback<void, Ptr<const Packet>, const Address&>(
                [this, index = m_sinks.size()](Ptr<const Packet>, const Address&) {
                    m_last[index] = Simulator::Now();
                }));
        m_sinks.push_back(sink);
    }

    Ptr<Socket> MakeSocket(uint32_t node)
    {
        return Socket::CreateSocket(m_nodes.Get(node), TypeId::LookupByName(factory));
    }

    NodeContainer m_nodes;
    Ipv4AddressHelper m_addresses{"10.1.1.0", "255.255.255.0"};
    std::vector<Ptr<PacketSink>> m_sinks;
    std::vector<Time> m_last; //!< time of each sink's last byte
    Time m_stop;
};

void
Run(Scenario& scenario, const std::string& name)
{
    const std::map<std::string, void (Scenario::*)()> scenarios{
        {"bulk", &Scenario::Bulk},
        {"fifth", &Scenario::Fifth},
        {"star", &Scenario::Star},
        {"dumbbell", &Scenario::Dumbbell},
        {"transports", &Scenario::Transports}};
    const auto found = scenarios.find(name);
    if (found == scenarios.end())
    {
        throw viaduct::UsageError("--scenario=" + name +
                                  ": expected bulk, fifth, star, dumbbell or transports");
    }
    (scenario.*found->second)();
    scenario.Run();
}

} // namespace

int
main(int argc, char* argv[])
{
    return RunKernelExample("viaduct-kernel-scenarios", [&] {
        Scenario scenario;
        std::string name = "bulk";
        CommandLine line(__FILE__);
        line.AddValue("scenario", "scenario: bulk, fifth, star, dumbbell or transports", name);
        line.AddValue("stack", "IP stack of all nodes: ns3 or kernel", scenario.stack);
        line.AddValue("factory", "TypeId of the socket factory", scenario.factory);
        line.AddValue("pcap", "prefix of the capture files (kernel nodes only)", scenario.pcap);
        line.Parse(argc, argv);
        Run(scenario, name);
    });
}
