/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Node pairs with real Linux kernels as their IP stack, with a transfer (TCP, or by --factory)
 * between the nodes of each pair, in virtual time.
 *
 *   viaduct-kernel-transfer --pairs=1 --rate=100Mbps --delay=10ms --time=10s --kernel=6.12
 *
 * Prints the received bytes and the cost of the simulation, and fails if no bytes arrived.
 * --pcap=PREFIX captures every device.
 */

#include "kernel-example.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/viaduct-module.h"

#include "base/clock.h"
#include "base/error.h"

#include <iostream>

using namespace ns3;

namespace
{

struct Arguments
{
    uint32_t pairs = 1;
    uint32_t guests = 1;
    std::string rate = "100Mbps";
    std::string delay = "10ms";
    Time time = Seconds(10);
    std::string kernel;
    std::string factory = "ns3::KernelTcpSocketFactory";
    uint32_t size = 0; // bytes in each call of Send(); 0: the result of FittingSize()
    std::string pcap;
};

/**
 * @param factory the TypeId of a socket factory
 * @return the number of bytes for each call of Send() of the factory's sockets: a message of DCCP
 * is one packet, a message of SCTP has at most 65535 bytes (KernelMessageSocket), and a stream
 * takes any number of bytes
 */
uint32_t
FittingSize(const std::string& factory)
{
    if (factory.find("Dccp") != std::string::npos)
    {
        return 1400;
    }
    return factory.find("Sctp") != std::string::npos ? 65535 : 65536;
}

/** Connects the two nodes of a pair and installs a transfer between them; @return the receiver */
Ptr<PacketSink>
MakePair(const Arguments& arguments, const NodeContainer& nodes, Ipv4AddressHelper& addresses)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue(arguments.rate));
    link.SetChannelAttribute("Delay", StringValue(arguments.delay));
    auto interfaces = addresses.Assign(link.Install(nodes));
    addresses.NewNetwork();
    PacketSinkHelper sink(arguments.factory, InetSocketAddress(Ipv4Address::GetAny(), 5201));
    BulkSendHelper source(arguments.factory, InetSocketAddress(interfaces.GetAddress(1), 5201));
    source.SetAttribute(
        "SendSize",
        UintegerValue(arguments.size != 0 ? arguments.size : FittingSize(arguments.factory)));
    source.Install(nodes.Get(0));
    return sink.Install(nodes.Get(1)).Get(0)->GetObject<PacketSink>();
}

void
Run(const Arguments& arguments)
{
    NodeContainer nodes(2 * arguments.pairs);
    KernelStackHelper stack;
    stack.SetAttribute("Kernel", StringValue(arguments.kernel));
    stack.SetGuests(arguments.guests);
    stack.Install(nodes);
    CheckFactory(arguments.factory, nodes.Get(0), true);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t i = 0; i < arguments.pairs; ++i)
    {
        sinks.push_back(
            MakePair(arguments, NodeContainer(nodes.Get(2 * i), nodes.Get(2 * i + 1)), addresses));
    }
    if (!arguments.pcap.empty())
    {
        KernelStackHelper::EnablePcap(arguments.pcap, nodes);
    }
    auto wall = viaduct::MonotonicClock::Now();
    double boot = 0;
    Simulator::Schedule(NanoSeconds(1), [&] {
        boot = (viaduct::MonotonicClock::Now() - wall).ToSeconds();
        wall = viaduct::MonotonicClock::Now();
    });
    Simulator::Stop(arguments.time);
    Simulator::Run();
    const double seconds = (viaduct::MonotonicClock::Now() - wall).ToSeconds();
    uint64_t bytes = 0;
    for (const auto& sink : sinks)
    {
        bytes += sink->GetTotalRx();
    }
    uint64_t frames = 0;
    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        auto kernel = nodes.Get(i)->GetObject<KernelNode>();
        frames += kernel->GetBridge(nodes.Get(i)->GetDevice(1))->GetNic().counters().rx_frames;
    }
    const auto& counters = KernelCalendar::Get()->GetCalendar().counters();
    std::cout << "kernel " << stack.GetGuests().front()->GetRelease() << ", " << bytes
              << " bytes arrived, " << bytes * 8 / arguments.time.GetSeconds() / 1e6 << " Mbit/s\n"
              << "boot " << boot << " s, run " << seconds << " s of wall time, " << frames
              << " frames, " << frames / seconds << " frames/s\n"
              << "guests run " << counters.runs << " times, interrupted " << counters.interrupts
              << " times" << std::endl;
    if (bytes == 0)
    {
        throw viaduct::Error("nothing arrived in " + std::to_string(arguments.time.GetSeconds()) +
                             " s: set a longer --time, or a --size that " + arguments.factory +
                             " accepts as one message");
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    Arguments arguments;
    CommandLine line(__FILE__);
    line.AddValue("pairs", "number of transfers", arguments.pairs);
    line.AddValue(
        "guests", "number of kernels over which the nodes are distributed", arguments.guests);
    line.AddValue("rate", "rate of the links", arguments.rate);
    line.AddValue("delay", "delay of the links", arguments.delay);
    line.AddValue("time", "duration in virtual time", arguments.time);
    line.AddValue(
        "kernel", "kernel (see viaduct kernel list); default: the newest kernel", arguments.kernel);
    line.AddValue("factory", "TypeId of the socket factory of the applications", arguments.factory);
    line.AddValue("size",
                  "number of bytes that the application passes to the socket in one call; default: "
                  "a suitable size for the socket type",
                  arguments.size);
    line.AddValue("pcap", "prefix of the capture files", arguments.pcap);
    line.Parse(argc, argv);
    return RunKernelExample("viaduct-kernel-transfer", [&] { Run(arguments); });
}
