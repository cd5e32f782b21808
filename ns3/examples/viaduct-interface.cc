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
 * An ns-3 node on a real interface: the node answers pings until --duration has passed. With --rip
 * the node also exchanges routes by RIP and RIPng with routers on the link (BIRD, FRR), offers them
 * the network 10.77.0.0/24 and fd00:77::/64, and prints the routes that it has learned. Needs root.
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

/** Adds an interface to a node, on a link without neighbours. @param node the node */
void
OfferNetworks(Ptr<Node> node)
{
    auto stub = SimpleNetDeviceHelper().Install(node);
    Ipv4AddressHelper("10.77.0.0", "255.255.255.0").Assign(stub);
    Ipv6AddressHelper("fd00:77::", Ipv6Prefix(64)).Assign(stub).SetForwarding(0, true);
}

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
    char filter[65536] = ""; // an array, because AddValue() cuts a std::string at its first space
    std::string simulator = "ns3::ReactorSimulatorImpl";
    bool rip = false;
    Ipv4Address address("10.1.1.2");
    Time duration = Seconds(10);
    CommandLine cmd(__FILE__);
    cmd.AddValue("interface", "name of the interface", interface);
    cmd.AddValue("namespace", "network namespace of the interface", networkNamespace);
    cmd.AddValue("filter", "filter for received frames (tcpdump's syntax)", filter, sizeof filter);
    cmd.AddValue("address", "IPv4 address of the node, in a /24 network", address);
    cmd.AddValue("rip", "whether the node runs RIP and RIPng", rip);
    cmd.AddValue("duration", "duration of the run", duration);
    cmd.AddValue("simulator", "TypeId of the simulator implementation", simulator);
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
    InternetStackHelper stack;
    if (rip)
    {
        stack.SetRoutingHelper(RipHelper());
        stack.SetRoutingHelper(RipNgHelper());
    }
    stack.Install(node);
    Ipv4AddressHelper(
        address.CombineMask("255.255.255.0"), "255.255.255.0", Ipv4Address(address.Get() & 0xff))
        .Assign(NetDeviceContainer(device));
    if (rip)
    {
        Ipv6AddressHelper().AssignWithoutAddress(NetDeviceContainer(device));
        OfferNetworks(node);
        auto stream = Create<OutputStreamWrapper>(&std::cout);
        Ipv4RoutingHelper::PrintRoutingTableEvery(Seconds(1), node, stream);
        Ipv6RoutingHelper::PrintRoutingTableEvery(Seconds(1), node, stream);
    }

    Simulator::Stop(duration);
    Simulator::Run();
    device->PrintTiming(std::cout);
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
