/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * A client, a router and a server in a line; a bulk transfer over TCP and datagrams over UDP from
 * client to server. The same applications run on the sockets of
 *
 *   --sockets=ns3     ns-3's own transport protocols, in simulation
 *   --sockets=kernel  real Linux kernels in virtual time
 *   --sockets=host    this machine's kernel, through the offloaded data plane of a lab (root)
 *
 * and only the TypeId of their socket factories differs. The program prints the bytes sent and
 * received. --sink=0 omits the receiver, for a program in the lab's namespace (LAB.n2); with --wait
 * the applications of --sockets=host start when a line arrives on standard input, and the run ends
 * with the next line.
 */

#include "kernel-example.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/viaduct-module.h"

#include <iostream>
#include <map>
#include <poll.h>
#include <unistd.h>

using namespace ns3;

namespace
{

struct Arguments
{
    std::string sockets = "ns3";
    bool ipv6 = false;
    uint32_t bytes = 1000000;
    std::string rate = "8Mbps";
    Time time = Seconds(10);
    std::string lab = "ns3";
    bool sink = true;
    bool wait = false;
};

/** The bytes transferred by the applications. */
struct Traffic
{
    uint64_t sent = 0;
    Ptr<PacketSink> sink;

    uint64_t Received() const
    {
        return sink ? sink->GetTotalRx() : 0;
    }
};

/** @return the TypeId of the socket factory of a transport, "Tcp" or "Udp" */
std::string
Factory(const Arguments& arguments, const std::string& transport)
{
    const std::map<std::string, std::string> prefixes = {
        {"ns3", "ns3::"}, {"kernel", "ns3::Kernel"}, {"host", "ns3::Host"}};
    const auto prefix = prefixes.find(arguments.sockets);
    if (prefix == prefixes.end())
    {
        throw viaduct::UsageError("--sockets=" + arguments.sockets +
                                  ": unknown; expected ns3, kernel or host");
    }
    return prefix->second + transport + "SocketFactory";
}

void
InstallStack(const Arguments& arguments, const NodeContainer& nodes)
{
    if (arguments.sockets == "kernel")
    {
        KernelStackHelper().Install(nodes);
    }
    else
    {
        InternetStackHelper().Install(nodes);
    }
}

/** Connects the nodes and sets the end nodes' default routes; @return the server's address */
Address
Connect(const NodeContainer& nodes, bool ipv6)
{
    SimpleNetDeviceHelper link;
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv6AddressHelper addresses6(Ipv6Address("fd00:0:0:1::"), Ipv6Prefix(64));
    std::vector<Ipv4InterfaceContainer> interfaces;
    std::vector<Ipv6InterfaceContainer> interfaces6;
    for (uint32_t i = 0; i < 2; ++i)
    {
        const auto devices = link.Install(NodeContainer(nodes.Get(i), nodes.Get(i + 1)));
        interfaces.push_back(addresses.Assign(devices));
        interfaces6.push_back(addresses6.Assign(devices));
        addresses.NewNetwork();
        addresses6.NewNetwork();
        interfaces6[i].SetForwarding(1 - i, true);
        interfaces6[i].SetDefaultRoute(i, 1 - i);
        Ipv4StaticRoutingHelper()
            .GetStaticRouting(nodes.Get(2 * i)->GetObject<Ipv4>())
            ->SetDefaultRoute(interfaces[i].GetAddress(1 - i), 1);
    }
    return ipv6 ? Address(interfaces6[1].GetAddress(1, 1)) : Address(interfaces[1].GetAddress(1));
}

Address
WithPort(const Address& address, uint16_t port)
{
    return Ipv6Address::IsMatchingType(address)
               ? Address(Inet6SocketAddress(Ipv6Address::ConvertFrom(address), port))
               : Address(InetSocketAddress(Ipv4Address::ConvertFrom(address), port));
}

/** Installs a sender and, unless --sink=0, its receiver. */
void
InstallTraffic(const Arguments& arguments,
               const NodeContainer& nodes,
               const Address& server,
               bool tcp,
               Traffic& traffic)
{
    const std::string factory = Factory(arguments, tcp ? "Tcp" : "Udp");
    const Address to = WithPort(server, tcp ? 5201 : 5202);
    BulkSendHelper bulk(factory, to);
    bulk.SetAttribute("MaxBytes", UintegerValue(arguments.bytes));
    OnOffHelper onOff(factory, to);
    onOff.SetConstantRate(DataRate(arguments.rate), 1000);
    onOff.SetAttribute("MaxBytes", UintegerValue(arguments.bytes));
    auto sender = (tcp ? bulk.Install(nodes.Get(0)) : onOff.Install(nodes.Get(0))).Get(0);
    // TCP starts at 1 s, when routes exist. UDP starts later, because ns-3's devices drop datagrams
    // for which the bulk transfer leaves no space.
    sender->SetStartTime(Seconds(tcp ? 1 : 2));
    sender->TraceConnectWithoutContext(
        "Tx", Callback<void, Ptr<const Packet>>([&traffic](Ptr<const Packet> packet) {
            traffic.sent += packet->GetSize();
        }));
    if (arguments.sink)
    {
        PacketSinkHelper sink(factory, to);
        traffic.sink = DynamicCast<PacketSink>(sink.Install(nodes.Get(2)).Get(0));
    }
}

/** Ends the run if standard input is readable or at its end. The reactor also calls this function
 * when the run starts. */
bool
StopAtInput()
{
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, 0) > 0)
    {
        Simulator::Stop();
    }
    return false;
}

/** Builds the lab and gives its nodes sockets of this machine's kernel. */
void
EnterLab(const Arguments& arguments, const NodeContainer& nodes)
{
    LabHelper lab("offload");
    lab.SetLabName(arguments.lab);
    lab.Install(nodes);
    HostSocketHelper().Install(nodes, lab);
    if (arguments.wait)
    {
        std::cout << "ready" << std::endl;
        std::string line;
        std::getline(std::cin, line);
        ReactorSimulatorImpl::Get()->AddPollable(STDIN_FILENO, Callback<bool>(&StopAtInput));
    }
}

/** Ends the run when all bytes have arrived. */
void
StopWhenDone(const Arguments& arguments, const Traffic& tcp, const Traffic& udp)
{
    if (tcp.Received() >= arguments.bytes && udp.Received() >= arguments.bytes)
    {
        Simulator::Stop();
    }
    Simulator::Schedule(MilliSeconds(10), [&] { StopWhenDone(arguments, tcp, udp); });
}

void
Run(const Arguments& arguments)
{
    Factory(arguments, ""); // checks the arguments before anything is built
    if (arguments.sockets == "host")
    {
        GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::ReactorSimulatorImpl"));
    }
    NodeContainer nodes(3);
    InstallStack(arguments, nodes);
    const Address server = Connect(nodes, arguments.ipv6);
    Traffic tcp;
    Traffic udp;
    InstallTraffic(arguments, nodes, server, true, tcp);
    InstallTraffic(arguments, nodes, server, false, udp);
    if (arguments.sockets == "host")
    {
        EnterLab(arguments, nodes);
    }
    if (!arguments.wait)
    {
        StopWhenDone(arguments, tcp, udp);
    }
    Simulator::Stop(arguments.time);
    Simulator::Run();
    std::cout << "tcp: sent " << tcp.sent << ", received " << tcp.Received() << "\n"
              << "udp: sent " << udp.sent << ", received " << udp.Received() << std::endl;
    if (arguments.sockets == "host")
    {
        const auto& lateness = ReactorSimulatorImpl::Get()->GetLateness();
        std::cout << "events late: p50 " << lateness.Quantile(0.5) / 1000 << " us, p99 "
                  << lateness.Quantile(0.99) / 1000 << " us, max " << lateness.Max() / 1000 << " us"
                  << std::endl;
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    Arguments arguments;
    CommandLine line(__FILE__);
    line.AddValue("sockets",
                  "sockets of the applications: ns3 (ns-3's own stack), kernel (nodes with real "
                  "kernels) or host (this machine's kernel)",
                  arguments.sockets);
    line.AddValue("ipv6", "send over IPv6", arguments.ipv6);
    line.AddValue("bytes", "number of bytes that each transport sends", arguments.bytes);
    line.AddValue("rate", "rate at which UDP datagrams are sent", arguments.rate);
    line.AddValue("time", "maximum duration of the run", arguments.time);
    line.AddValue("lab", "name of the lab", arguments.lab);
    line.AddValue(
        "sink", "whether the server has applications that receive the data", arguments.sink);
    line.AddValue("wait",
                  "wait for a line on standard input before the run starts, and stop the run at "
                  "the next line",
                  arguments.wait);
    line.Parse(argc, argv);
    return RunKernelExample("viaduct-host-applications", [&] { Run(arguments); });
}
