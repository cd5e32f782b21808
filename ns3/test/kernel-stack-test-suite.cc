/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/boolean.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/config.h"
#include "ns3/csma-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/ipv6-address-helper.h"
#include "ns3/kernel-calendar.h"
#include "ns3/kernel-node.h"
#include "ns3/kernel-stack-helper.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/olsr-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/udp-client-server-helper.h"
#include "ns3/udp-echo-helper.h"
#include "ns3/udp-server.h"
#include "ns3/uinteger.h"

#include "base/error.h"
#include "kernel/companions.h"
#include "kernel/image.h"

#include <csignal>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * Tests of nodes whose stack is a real kernel. They need one (viaduct kernel build), no privilege.
 */

using namespace ns3;

namespace
{

/** @return why there is no kernel to test; empty if there is one */
std::string
WhyNoKernel()
{
    try
    {
        viaduct::kernel::FindImage("");
        viaduct::kernel::FindCompanion("viaduct-guest");
        return "";
    }
    catch (const viaduct::Error& error)
    {
        return error.what();
    }
}

/** A test that needs a kernel. */
class KernelTestCase : public TestCase
{
  public:
    using TestCase::TestCase;

  protected:
    virtual void RunWithKernel() = 0;

    /** A line of nodes with point-to-point links of 100 Mbit/s and 10 ms, addresses 10.0.I.0/24. */
    void MakeLine(uint32_t count, KernelStackHelper& stack)
    {
        m_nodes.Create(count);
        stack.Install(m_nodes);
        PointToPointHelper link;
        link.SetDeviceAttribute("DataRate", StringValue("100Mbps"));
        link.SetChannelAttribute("Delay", StringValue("10ms"));
        Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
        for (uint32_t i = 0; i + 1 < count; ++i)
        {
            m_devices.Add(link.Install(m_nodes.Get(i), m_nodes.Get(i + 1)));
            m_interfaces.Add(addresses.Assign(
                NetDeviceContainer(m_devices.Get(2 * i), m_devices.Get(2 * i + 1))));
            addresses.NewNetwork();
        }
    }

    /** Records when frames begin and end on a device. */
    void Record(Ptr<NetDevice> device)
    {
        const uint32_t id = device->GetNode()->GetId();
        device->TraceConnectWithoutContext(
            "PhyTxBegin", Callback<void, Ptr<const Packet>>([this, id](auto packet) {
                Note(id, "sends", packet);
            }));
        device->TraceConnectWithoutContext(
            "PhyRxEnd", Callback<void, Ptr<const Packet>>([this, id](auto packet) {
                Note(id, "gets", packet);
            }));
    }

    std::ostringstream m_trace;          //!< what Record() saw, with contents
    std::vector<Time> m_sends;           //!< when
    std::vector<Time> m_gets;            //!< when
    NodeContainer m_nodes;               //!< the nodes
    NetDeviceContainer m_devices;        //!< of MakeLine(), in the order of the links
    Ipv4InterfaceContainer m_interfaces; //!< the same

  private:
    void DoRun() override
    {
        if (const std::string reason = WhyNoKernel(); !reason.empty())
        {
            std::cout << "SKIPPED " << GetName() << ": " << reason << std::endl;
            return;
        }
        try
        {
            RunWithKernel();
        }
        catch (const viaduct::Error& error)
        {
            NS_TEST_EXPECT_MSG_EQ(true, false, error.what());
        }
        Clear();
    }

  protected:
    /** Ends the simulation. */
    void Clear()
    {
        m_nodes = NodeContainer();
        m_devices = NetDeviceContainer();
        m_interfaces = Ipv4InterfaceContainer();
        Simulator::Destroy();
    }

  private:
    void Note(uint32_t node, const char* what, Ptr<const Packet> packet)
    {
        (std::string(what) == "sends" ? m_sends : m_gets).push_back(Simulator::Now());
        m_trace << Simulator::Now().GetNanoSeconds() << " " << node << " " << what << " "
                << packet->GetSize() << " ";
        std::vector<uint8_t> bytes(packet->GetSize());
        packet->CopyData(bytes.data(), packet->GetSize());
        uint64_t hash = 1469598103934665603U; // FNV-1a
        for (const uint8_t byte : bytes)
        {
            hash = (hash ^ byte) * 1099511628211U;
        }
        m_trace << hash << "\n";
    }
};

/** The kernel answers at the instant at which it is asked. */
class EchoTest : public KernelTestCase
{
  public:
    EchoTest() : KernelTestCase("UDP echo over a kernel takes exactly the link's time")
    {
    }

  private:
    void RunWithKernel() override
    {
        KernelStackHelper stack;
        MakeLine(2, stack);
        Record(m_devices.Get(0));
        Record(m_devices.Get(1));
        UdpEchoServerHelper server(9);
        server.Install(m_nodes.Get(1));
        UdpEchoClientHelper client(m_interfaces.GetAddress(1), 9);
        client.SetAttribute("MaxPackets", UintegerValue(3));
        client.SetAttribute("PacketSize", UintegerValue(1024));
        client.Install(m_nodes.Get(0)).Start(Seconds(1));
        Simulator::Stop(Seconds(5));
        Simulator::Run();
        NS_TEST_ASSERT_MSG_EQ(m_sends.size(), 6, "three requests and three answers");
        // 1024 bytes, UDP, IPv4 and PPP at 100 Mbit/s.
        const Time way = NanoSeconds(10000000 + (1024 + 8 + 20 + 2) * 80);
        // A system call that fails takes the guest 1 us; all else takes no time.
        const Time little = MicroSeconds(5);
        for (size_t i = 0; i < 6; i += 2)
        {
            NS_TEST_EXPECT_MSG_LT(m_sends[i] - Seconds(1 + i / 2), little, "sent at once");
            NS_TEST_EXPECT_MSG_EQ((m_gets[i] - m_sends[i]).GetNanoSeconds(),
                                  way.GetNanoSeconds(),
                                  "the link's time, to the nanosecond");
            NS_TEST_EXPECT_MSG_LT(m_sends[i + 1] - m_gets[i], little, "answered at once");
        }
    }
};

/** A transfer over two hops, routes by ns-3's global routing. */
class TransferTest : public KernelTestCase
{
  public:
    TransferTest()
        : KernelTestCase("TCP over a kernel router with global routing, the same for one seed")
    {
    }

  private:
    std::string Transfer(uint32_t run)
    {
        RngSeedManager::SetRun(run);
        Mac48Address::ResetAllocationIndex();
        m_trace.str("");
        KernelStackHelper stack;
        MakeLine(3, stack);
        for (uint32_t i = 0; i < m_devices.GetN(); ++i)
        {
            Record(m_devices.Get(i));
        }
        Ipv4GlobalRoutingHelper::PopulateRoutingTables();
        PacketSinkHelper sinkHelper("ns3::TcpSocketFactory",
                                    InetSocketAddress(Ipv4Address::GetAny(), 5000));
        auto sink = sinkHelper.Install(m_nodes.Get(2)).Get(0)->GetObject<PacketSink>();
        BulkSendHelper source("ns3::TcpSocketFactory",
                              InetSocketAddress(m_interfaces.GetAddress(3), 5000));
        source.SetAttribute("MaxBytes", UintegerValue(2000000));
        source.Install(m_nodes.Get(0)).Start(Seconds(1));
        Simulator::Stop(Seconds(6));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(sink->GetTotalRx(), 2000000, "all of it arrives");
        Clear();
        RngSeedManager::SetRun(1);
        return m_trace.str();
    }

    void RunWithKernel() override
    {
        const std::string first = Transfer(1);
        NS_TEST_EXPECT_MSG_EQ((first == Transfer(1)), true, "one seed, one trace");
        NS_TEST_EXPECT_MSG_EQ((first == Transfer(2)), false, "another run, another trace");
    }
};

/** IPv6 on a shared link. */
class Ipv6Test : public KernelTestCase
{
  public:
    Ipv6Test() : KernelTestCase("IPv6 over CSMA, two guests")
    {
    }

  private:
    void RunWithKernel() override
    {
        m_nodes.Create(2);
        KernelStackHelper stack;
        stack.SetGuests(2);
        stack.Install(m_nodes);
        CsmaHelper link;
        link.SetChannelAttribute("DataRate", StringValue("100Mbps"));
        link.SetChannelAttribute("Delay", StringValue("1ms"));
        auto devices = link.Install(m_nodes);
        Ipv6AddressHelper addresses(Ipv6Address("fd00::"), Ipv6Prefix(64));
        auto interfaces = addresses.Assign(devices);
        UdpServerHelper server(7);
        auto received = server.Install(m_nodes.Get(1)).Get(0)->GetObject<UdpServer>();
        UdpClientHelper client(interfaces.GetAddress(1, 1), 7);
        client.SetAttribute("MaxPackets", UintegerValue(10));
        client.Install(m_nodes.Get(0)).Start(Seconds(1));
        Simulator::Stop(Seconds(13));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(received->GetReceived(), 10, "all datagrams arrive");
    }
};

/** A routing protocol of ns-3, its sockets and its routes the kernel's. */
class RoutingProtocolTest : public KernelTestCase
{
  public:
    RoutingProtocolTest() : KernelTestCase("OLSR on kernel nodes")
    {
    }

  private:
    void RunWithKernel() override
    {
        KernelStackHelper stack;
        stack.SetRoutingHelper(OlsrHelper());
        MakeLine(4, stack);
        UdpServerHelper server(7);
        auto received = server.Install(m_nodes.Get(3)).Get(0)->GetObject<UdpServer>();
        UdpClientHelper client(m_interfaces.GetAddress(5), 7);
        client.SetAttribute("MaxPackets", UintegerValue(10));
        client.Install(m_nodes.Get(0)).Start(Seconds(30));
        Simulator::Stop(Seconds(45));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(received->GetReceived(), 10, "routes were found and used");
    }
};

/** What is set while the simulation runs. */
class ChangeTest : public KernelTestCase
{
  public:
    ChangeTest()
        : KernelTestCase("Interfaces down and up, addresses changed, while the simulation runs")
    {
    }

  private:
    void RunWithKernel() override
    {
        KernelStackHelper stack;
        MakeLine(2, stack);
        UdpServerHelper server(7);
        auto received = server.Install(m_nodes.Get(1)).Get(0)->GetObject<UdpServer>();
        UdpClientHelper client(Ipv4Address("10.0.0.77"), 7);
        client.SetAttribute("MaxPackets", UintegerValue(100));
        client.SetAttribute("Interval", TimeValue(MilliSeconds(100)));
        client.Install(m_nodes.Get(0)).Start(Seconds(1));
        auto ipv4 = m_nodes.Get(1)->GetObject<Ipv4>();
        std::vector<uint64_t> counts;
        const auto count = [&] { counts.push_back(received->GetReceived()); };
        Simulator::Schedule(Seconds(3), count);
        Simulator::Schedule(Seconds(3), [&] {
            ipv4->AddAddress(1, Ipv4InterfaceAddress("10.0.0.77", "255.255.255.0"));
        });
        Simulator::Schedule(Seconds(5), count);
        Simulator::Schedule(Seconds(5), [&] { ipv4->SetDown(1); });
        Simulator::Schedule(Seconds(7), count);
        Simulator::Schedule(Seconds(7), [&] { ipv4->SetUp(1); });
        Simulator::Stop(Seconds(9));
        Simulator::Run();
        count();
        NS_TEST_ASSERT_MSG_EQ(counts.size(), 4, "counted");
        NS_TEST_EXPECT_MSG_EQ(counts[0], 0, "nobody has the address");
        NS_TEST_EXPECT_MSG_EQ(counts[1], 20, "it has the address");
        NS_TEST_EXPECT_MSG_EQ(counts[2], counts[1], "its interface is down");
        NS_TEST_EXPECT_MSG_EQ(counts[3], counts[2] + 20, "and up again");
    }
};

/** Errors are one line that says what to do. */
class BadInputTest : public KernelTestCase
{
  public:
    BadInputTest() : KernelTestCase("Bad input and a killed guest")
    {
    }

  private:
    std::string ErrorOf(const std::function<void(KernelStackHelper&)>& configure)
    {
        std::string what = "no error";
        try
        {
            KernelStackHelper stack;
            configure(stack);
            MakeLine(2, stack);
            Simulator::Schedule(Seconds(1), [&] {
                if (m_kill)
                {
                    kill(stack.GetGuests()[0]->GetGuest().pid(), SIGKILL);
                }
            });
            Simulator::Stop(Seconds(100));
            Simulator::Run();
        }
        catch (const viaduct::Error& error)
        {
            what = error.what();
        }
        Clear();
        return what;
    }

    void Expect(const std::string& error, const std::string& part)
    {
        NS_TEST_EXPECT_MSG_NE(error.find(part), std::string::npos, error);
    }

    void RunWithKernel() override
    {
        Expect(ErrorOf([](auto& stack) {
                   stack.SetAttribute("Kernel", StringValue("/nonexistent/linux"));
               }),
               "/nonexistent/linux");
        Expect(ErrorOf([](auto& stack) { stack.SetAttribute("Kernel", StringValue("/bin/true")); }),
               "/bin/true");
        Expect(ErrorOf([](auto& stack) { stack.SetSysctl("net.ipv4.no_such_thing", "1"); }),
               "no_such_thing");
        m_kill = true;
        Expect(ErrorOf([](auto&) {}), "guest 0 (n0, n1) was killed by signal 9");
    }

    bool m_kill{false}; //!< the guest
};

class KernelStackTestSuite : public TestSuite
{
  public:
    KernelStackTestSuite() : TestSuite("viaduct-kernel-stack", Type::SYSTEM)
    {
        AddTestCase(new EchoTest, Duration::QUICK);
        AddTestCase(new TransferTest, Duration::QUICK);
        AddTestCase(new Ipv6Test, Duration::QUICK);
        AddTestCase(new RoutingProtocolTest, Duration::QUICK);
        AddTestCase(new ChangeTest, Duration::QUICK);
        AddTestCase(new BadInputTest, Duration::QUICK);
    }
};

KernelStackTestSuite g_kernelStackTestSuite; //!< registers itself

} // namespace
