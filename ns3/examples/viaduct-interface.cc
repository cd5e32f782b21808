/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/reactor-simulator-impl.h"
#include "ns3/ring-net-device.h"

#include <exception>
#include <iostream>

/**
 * @file
 * @ingroup viaduct
 * An ns-3 node on a real interface: it answers pings until the time has passed. Needs root.
 *
 * @code
 * ip netns add probe
 * ip link add v0 type veth peer name v1 netns probe
 * ip link set v0 up
 * ip -n probe addr add 10.1.1.1/24 dev v1
 * ip -n probe link set v1 up
 * viaduct-interface --interface=v0 --address=10.1.1.2 &
 * ip netns exec probe ping 10.1.1.2
 * @endcode
 */

using namespace ns3;

namespace
{

/**
 * @param argc number of arguments
 * @param argv arguments
 * @return exit status
 */
int
Main(int argc, char* argv[])
{
    std::string interface;
    std::string networkNamespace;
    std::string filter;
    std::string simulator = "ns3::ReactorSimulatorImpl";
    Ipv4Address address("10.1.1.2");
    Time duration = Seconds(10);
    CommandLine cmd(__FILE__);
    cmd.AddValue("interface", "the interface", interface);
    cmd.AddValue("namespace", "its network namespace", networkNamespace);
    cmd.AddValue("filter", "filter of received frames, in tcpdump's syntax", filter);
    cmd.AddValue("address", "the node's IPv4 address, in a /24", address);
    cmd.AddValue("duration", "how long to run", duration);
    cmd.AddValue("simulator", "TypeId of the simulator", simulator);
    cmd.Parse(argc, argv);

    GlobalValue::Bind("SimulatorImplementationType", StringValue(simulator));
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(true));
    Ptr<Node> node = CreateObject<Node>();
    auto device = CreateObjectWithAttributes<RingNetDevice>("Interface",
                                                            StringValue(interface),
                                                            "Namespace",
                                                            StringValue(networkNamespace),
                                                            "Filter",
                                                            StringValue(filter));
    node->AddDevice(device);
    InternetStackHelper().Install(node);
    Ipv4AddressHelper(
        address.CombineMask("255.255.255.0"), "255.255.255.0", Ipv4Address(address.Get() & 0xff))
        .Assign(NetDeviceContainer(device));

    Simulator::Stop(duration);
    Simulator::Run();
    std::cout << "dropped: " << device->GetTotalDrops() << "\n";
    if (auto reactor = ReactorSimulatorImpl::Get())
    {
        reactor->Print(std::cout);
    }
    Simulator::Destroy();
    return 0;
}

} // namespace

int
main(int argc, char* argv[])
{
    try
    {
        return Main(argc, argv);
    }
    catch (const std::exception& error)
    {
        std::cerr << "viaduct-interface: " << error.what() << "\n";
        return 1;
    }
}
