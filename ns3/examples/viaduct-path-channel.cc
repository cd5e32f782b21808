/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * A TCP transfer over an emulated path; prints the rate, and the fates of the packets.
 *
 *   viaduct-path-channel --up="delay=20ms rate=10Mbit queue=50p loss=0.1%"
 */

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/viaduct-module.h"

#include <iostream>
#include <map>

using namespace ns3;

int
main(int argc, char* argv[])
{
    // Arrays, because AddValue() cuts a std::string at its first space.
    char up[256] = "delay=20ms rate=10Mbit queue=50p";
    char down[256] = "delay=20ms";
    Time duration = Seconds(10);
    CommandLine cmd(__FILE__);
    cmd.AddValue("up", "SPEC from the sender to the receiver", up, sizeof up);
    cmd.AddValue("down", "SPEC from the receiver to the sender", down, sizeof down);
    cmd.AddValue("duration", "duration of the run", duration);
    cmd.Parse(argc, argv);
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 20));

    NodeContainer nodes(2);
    PathHelper helper;
    helper.SetChannelAttribute("Up", StringValue(up));
    helper.SetChannelAttribute("Down", StringValue(down));
    NetDeviceContainer devices = helper.Install(nodes);
    InternetStackHelper().Install(nodes);
    auto addresses = Ipv4AddressHelper("10.0.0.0", "255.255.255.0").Assign(devices);

    auto path = DynamicCast<PathChannel>(devices.Get(0)->GetChannel());
    std::map<viaduct::path::Fate, uint64_t> fates;
    path->TraceConnectWithoutContext(
        "Fate",
        Callback<void, Ptr<const Packet>, const PathFate&>(
            [&](Ptr<const Packet>, const PathFate& fate) { fates[fate.fate]++; }));

    const InetSocketAddress sinkAddress(addresses.GetAddress(1), 9);
    auto sink = PacketSinkHelper("ns3::TcpSocketFactory", sinkAddress).Install(nodes.Get(1));
    BulkSendHelper("ns3::TcpSocketFactory", sinkAddress).Install(nodes.Get(0));
    Simulator::Stop(duration);
    Simulator::Run();
    const uint64_t bytes = DynamicCast<PacketSink>(sink.Get(0))->GetTotalRx();
    std::cout << "received " << bytes * 8 / duration.GetSeconds() / 1e6 << " Mbit/s\n";
    for (const auto& [fate, count] : fates)
    {
        std::cout << count << " packets " << viaduct::path::FateName(fate) << "\n";
    }
    Simulator::Destroy();
    return 0;
}
