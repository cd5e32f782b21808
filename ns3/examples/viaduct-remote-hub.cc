/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/core-module.h"
#include "ns3/hub-helper.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/path-helper.h"
#include "ns3/reactor-simulator-impl.h"

#include <exception>
#include <iostream>

/**
 * @file
 * @ingroup viaduct
 * A star whose center is simulated and whose points are remote machines: point i is node i of this
 * machine's hub, has the address 10.1.i.1, and is behind a link with the SPEC of --spec. Needs no
 * root. The commands for the machine of point 1:
 *
 * @code
 * ip link add eth9 type vxlan id 1 remote HUB dstport 4789
 * ip addr add 10.1.1.1/24 dev eth9
 * ip link set eth9 mtu 1450 up
 * ip route add 10.1.0.0/16 via 10.1.1.2
 * ping 10.1.2.1
 * @endcode
 */

using namespace ns3;

namespace
{

/** Prints the counters of each client of a hub. @param hub the hub */
void
PrintClients(RemoteHub& hub)
{
    const viaduct::tunnel::ClientHub& tunnel = hub.GetHub();
    for (std::size_t i = 0; i < tunnel.nodes().size(); i++)
    {
        const auto counters = tunnel.CountersOf(i);
        std::cout << "point " << i + 1 << ": " << counters.rx_frames << " frames in, "
                  << counters.tx_frames << " out, " << counters.Lost() + hub.GetTotalDrops(i)
                  << " lost\n";
    }
}

/**
 * @param argc number of arguments
 * @param argv arguments
 * @return exit status
 */
int
Main(int argc, char* argv[])
{
    uint32_t points = 2;
    uint16_t port = 4789;
    std::string spec = "delay=10ms";
    Time duration = Seconds(60);
    CommandLine cmd(__FILE__);
    cmd.AddValue("points", "number of hosts (1 to 250)", points);
    cmd.AddValue("port", "UDP port of the hub", port);
    cmd.AddValue("spec", "SPEC of each link", spec);
    cmd.AddValue("duration", "duration of the run", duration);
    cmd.Parse(argc, argv);
    if (points < 1 || points > 250)
    {
        std::cerr << "--points: expected 1 to 250\n";
        return 2;
    }

    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::ReactorSimulatorImpl"));
    NodeContainer hosts(points);
    Ptr<Node> center = CreateObject<Node>();
    InternetStackHelper stack;
    stack.Install(hosts);
    stack.Install(center);
    PathHelper links;
    links.SetChannelAttribute("Up", StringValue(spec));
    links.SetChannelAttribute("Down", StringValue(spec));
    Ipv4AddressHelper addresses("10.1.1.0", "255.255.255.0");
    for (auto host = hosts.Begin(); host != hosts.End(); ++host)
    {
        addresses.Assign(links.Install(*host, center));
        addresses.NewNetwork();
    }
    HubHelper helper;
    helper.SetHubAttribute("Port", UintegerValue(port));
    const Ptr<RemoteHub> hub = helper.Install(hosts);

    std::cout << "ready" << std::endl;
    Simulator::Stop(duration);
    Simulator::Run();
    PrintClients(*hub);
    Simulator::Destroy();
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
try
{
    return Main(argc, argv);
}
catch (const std::exception& error)
{
    std::cerr << "viaduct-remote-hub: " << error.what() << "\n";
    return 1;
}
