/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * OLSR routers in a line whose control traffic is selected by a packet filter in tcpdump's syntax,
 * instead of being derived from the protocol's sockets. Run it as root or with sudo; under sudo it
 * continues as the invoking user once the lab is built.
 *
 *   sudo viaduct-control-filter --filter="udp port 698"
 */

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/olsr-helper.h"
#include "ns3/viaduct-module.h"

#include <iostream>
#include <unistd.h>

using namespace ns3;

int
main(int argc, char* argv[])
{
    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::ReactorSimulatorImpl"));
    // An array, because AddValue() cuts a std::string at its first space.
    char filter[256] = "udp port 698";
    std::string name = "control-filter";
    Time duration = Seconds(20);
    CommandLine cmd(__FILE__);
    cmd.AddValue("filter", "filter for control traffic", filter, sizeof filter);
    cmd.AddValue("lab", "name of the lab", name);
    cmd.AddValue("duration", "duration of the run", duration);
    cmd.Parse(argc, argv);

    NodeContainer nodes(3);
    InternetStackHelper stack;
    stack.SetRoutingHelper(OlsrHelper());
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    SimpleNetDeviceHelper link;
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    for (uint32_t i = 0; i + 1 < nodes.GetN(); i++)
    {
        addresses.Assign(link.Install(NodeContainer(nodes.Get(i), nodes.Get(i + 1))));
        addresses.NewNetwork();
    }

    LabHelper lab("offload");
    lab.SetLabName(name);
    for (uint32_t i = 0; i < nodes.GetN(); i++)
    {
        lab.Offload().SetControlFilter(nodes.Get(i), filter);
    }
    lab.Install(nodes);
    std::cout << "lab " << name << " runs as user " << getuid() << std::endl;
    Simulator::Stop(duration);
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
