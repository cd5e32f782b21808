/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/addressing.h"

#include "ns3/base/ip-family.h"
#include "ns3/base/wire-conversion.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6-static-routing-helper.h"
#include "ns3/ipv6.h"
#include "ns3/olsr-routing-protocol.h"
#include "ns3/rip.h"
#include "ns3/ripng.h"

#include "scenario/multicast.h"
#include "scenario/static_routes.h"

#include <algorithm>
#include <set>
#include <string>

namespace ns3::sim
{

using viaduct::scenario::NodeSettings;
using viaduct::scenario::Scenario;
using viaduct::wire::Family;
using viaduct::wire::IpAddress;
using viaduct::wire::IpPrefix;
using wireconversion::ToIpv4;
using wireconversion::ToIpv6;

namespace
{

/** @return the number of a device's interface in `ip`, the IP layer of the device's node; if the
 * device has no interface, a new interface is added */
template <class Ip>
uint32_t
InterfaceOf(Ptr<Ip> ip, Ptr<NetDevice> device)
{
    const int32_t known = ip->GetInterfaceForDevice(device);
    return known >= 0 ? static_cast<uint32_t>(known) : ip->AddInterface(device);
}

Ipv4Mask
MaskOf(int length)
{
    return Ipv4Mask(length == 0 ? 0 : ~0U << (32 - length));
}

void
AddAddress(Ptr<NetDevice> device, const IpPrefix& prefix)
{
    if (prefix == viaduct::scenario::kNoAddress)
    {
        return;
    }
    Ptr<Node> node = device->GetNode();
    if (prefix.address.family == Family::kIpv4)
    {
        Ptr<Ipv4> ip = node->GetObject<Ipv4>();
        const uint32_t index = InterfaceOf(ip, device);
        ip->AddAddress(index, Ipv4InterfaceAddress(ToIpv4(prefix.address), MaskOf(prefix.length)));
        ip->SetUp(index);
        return;
    }
    Ptr<Ipv6> ip = node->GetObject<Ipv6>();
    const uint32_t index = InterfaceOf(ip, device);
    ip->SetUp(index);
    ip->AddAddress(index, Ipv6InterfaceAddress(ToIpv6(prefix.address), Ipv6Prefix(prefix.length)));
}

/** Adds a node's own addresses to its loopback interface, which is the node's first IP interface.
 */
void
AddLoopbacks(Ptr<Node> node, const std::vector<IpPrefix>& addresses)
{
    for (const IpPrefix& prefix : addresses)
    {
        if (prefix.address.family == Family::kIpv4)
        {
            node->GetObject<Ipv4>()->AddAddress(
                0, Ipv4InterfaceAddress(ToIpv4(prefix.address), MaskOf(prefix.length)));
        }
        else
        {
            node->GetObject<Ipv6>()->AddAddress(
                0, Ipv6InterfaceAddress(ToIpv6(prefix.address), Ipv6Prefix(prefix.length)));
        }
    }
}

/** Makes OLSR announce a router's own (loopback) addresses. RIP and RIPng need no setting to
 * announce these addresses. */
void
AnnounceLoopbacks(Ptr<Node> router, const std::vector<IpPrefix>& addresses)
{
    auto olsr = router->GetObject<olsr::RoutingProtocol>();
    for (const IpPrefix& prefix : addresses)
    {
        if (olsr && prefix.address.family == Family::kIpv4)
        {
            olsr->AddHostNetworkAssociation(ToIpv4(prefix.address), MaskOf(prefix.length));
        }
    }
}

/** Adds a route through a device to the static routes of the device's node. */
void
AddRoute(Ptr<NetDevice> device, const IpPrefix& network, const IpAddress& nextHop)
{
    Ptr<Node> node = device->GetNode();
    if (nextHop.family == Family::kIpv4)
    {
        Ptr<Ipv4> ip = node->GetObject<Ipv4>();
        Ipv4StaticRoutingHelper().GetStaticRouting(ip)->AddNetworkRouteTo(
            ToIpv4(network.address),
            MaskOf(network.length),
            ToIpv4(nextHop),
            ip->GetInterfaceForDevice(device));
        return;
    }
    Ptr<Ipv6> ip = node->GetObject<Ipv6>();
    Ipv6StaticRoutingHelper().GetStaticRouting(ip)->AddNetworkRouteTo(
        ToIpv6(network.address),
        Ipv6Prefix(network.length),
        ToIpv6(nextHop),
        ip->GetInterfaceForDevice(device));
}

/** Adds a host's default route to its gateway, through the first link that both nodes are on. */
void
AddDefaultRoute(const NodeSettings& host, const std::vector<NetworkLink>& links)
{
    for (const NetworkLink& link : links)
    {
        const auto& nodes = link.settings->nodes;
        const auto& addresses = link.settings->addresses;
        const auto own = std::find(nodes.begin(), nodes.end(), host.name);
        const auto gateway = std::find(nodes.begin(), nodes.end(), host.gateway);
        if (own == nodes.end() || gateway == nodes.end())
        {
            continue;
        }
        for (size_t i = gateway - nodes.begin(); i < addresses.size(); i += nodes.size())
        {
            const IpAddress& address = addresses[i].address;
            AddRoute(link.devices[own - nodes.begin()], {{address.family, {}}, 0}, address);
        }
        return;
    }
}

/** @return the router's devices on links whose other nodes are all hosts */
std::vector<Ptr<NetDevice>>
StubDevices(const Scenario& scenario,
            const std::vector<NetworkLink>& links,
            const std::string& router)
{
    const auto isHost = [&](const std::string& name) {
        return std::any_of(scenario.nodes.begin(), scenario.nodes.end(), [&](const auto& node) {
            return node.name == name && node.host;
        });
    };
    std::vector<Ptr<NetDevice>> devices;
    for (const NetworkLink& link : links)
    {
        const auto& nodes = link.settings->nodes;
        const auto own = std::find(nodes.begin(), nodes.end(), router);
        // A link that is attached to an interface of the machine is not a stub, because other
        // routers may be behind that interface.
        if (link.settings->interface.empty() && own != nodes.end() &&
            std::all_of(nodes.begin(), nodes.end(), [&](const auto& other) {
                return other == router || isHost(other);
            }))
        {
            devices.push_back(link.devices[own - nodes.begin()]);
        }
    }
    return devices;
}

template <class Ip>
std::set<uint32_t>
InterfacesOf(Ptr<Ip> ip, const std::vector<Ptr<NetDevice>>& devices)
{
    std::set<uint32_t> interfaces;
    for (const auto& device : devices)
    {
        const int32_t index = ip ? ip->GetInterfaceForDevice(device) : -1;
        if (index >= 0)
        {
            interfaces.insert(index);
        }
    }
    return interfaces;
}

/** Makes a router's protocols announce the links on which all other nodes are hosts, and excludes
 * these links from the protocols' search for neighbours. */
void
AnnounceHosts(Ptr<Node> router, const std::vector<Ptr<NetDevice>>& devices)
{
    Ptr<Ipv4> ipv4 = router->GetObject<Ipv4>();
    const std::set<uint32_t> stubs = InterfacesOf(ipv4, devices);
    if (auto olsr = router->GetObject<olsr::RoutingProtocol>())
    {
        for (const uint32_t index : stubs)
        {
            const Ipv4InterfaceAddress address = ipv4->GetAddress(index, 0);
            olsr->AddHostNetworkAssociation(address.GetLocal().CombineMask(address.GetMask()),
                                            address.GetMask());
        }
        olsr->SetInterfaceExclusions(stubs);
    }
    if (auto rip = router->GetObject<Rip>())
    {
        rip->SetInterfaceExclusions(stubs);
    }
    if (auto ripng = router->GetObject<RipNg>())
    {
        ripng->SetInterfaceExclusions(InterfacesOf(router->GetObject<Ipv6>(), devices));
    }
}

} // namespace

void
AssignAddresses(const Scenario& scenario, const Network& network)
{
    for (const NetworkLink& link : network.GetLinks())
    {
        const auto& addresses = link.settings->addresses;
        // The IP interfaces are created in the order of a node's devices, so that an IP interface
        // has the same index as its device.
        for (size_t end = 0; end < link.devices.size(); end++)
        {
            if (!network.IsLocal(link.settings->nodes[end]))
            {
                continue;
            }
            for (size_t i = end; i < addresses.size(); i += link.devices.size())
            {
                AddAddress(link.devices[end], addresses[i]);
            }
        }
    }
    for (const NodeSettings& node : scenario.nodes)
    {
        if (network.IsLocal(node.name))
        {
            AddLoopbacks(network.GetNode(node.name), node.loopback);
        }
    }
}

void
RouteHosts(const Scenario& scenario, const Network& network)
{
    for (const NodeSettings& node : scenario.nodes)
    {
        if (!network.IsLocal(node.name))
        {
            continue;
        }
        if (node.host)
        {
            AddDefaultRoute(node, network.GetLinks());
        }
        else
        {
            AnnounceHosts(network.GetNode(node.name),
                          StubDevices(scenario, network.GetLinks(), node.name));
            AnnounceLoopbacks(network.GetNode(node.name), node.loopback);
        }
    }
}

void
AddStaticRoutes(const Scenario& scenario, const Network& network)
{
    for (const auto& route : viaduct::scenario::StaticRoutes(scenario))
    {
        if (!network.IsLocal(scenario.nodes[route.node].name))
        {
            continue;
        }
        const NetworkLink& link = network.GetLinks()[route.link];
        const auto& nodes = link.settings->nodes;
        const auto own = std::find(nodes.begin(), nodes.end(), scenario.nodes[route.node].name);
        AddRoute(link.devices[own - nodes.begin()], route.network, route.next_hop);
    }
}

namespace
{

/** @return the device of node `node` on the link named `link` */
Ptr<NetDevice>
DeviceOn(const Network& network, const std::string& link, const std::string& node)
{
    const NetworkLink& found = network.GetLink(link);
    const auto& nodes = found.settings->nodes;
    return found.devices[std::find(nodes.begin(), nodes.end(), node) - nodes.begin()];
}

/** @return the static routing protocol of a node, and the node's IP layer */
template <class Family>
auto
StaticRoutingOf(Ptr<Node> node)
{
    const auto ip = node->GetObject<typename Family::Layer>();
    Ptr<typename Family::StaticProtocol> routes;
    for (const auto& protocol : ipfamily::ProtocolsOf<Family>(ip))
    {
        routes = routes ? routes : DynamicCast<typename Family::StaticProtocol>(protocol);
    }
    NS_ABORT_MSG_UNLESS(routes, "a node has no static routing protocol");
    return std::pair(routes, ip);
}

template <class Family>
void
AddMulticastRoute(const viaduct::scenario::MulticastRoute& route, const Network& network)
{
    const auto [routes, ip] = StaticRoutingOf<Family>(network.GetNode(route.node));
    const auto interfaceOn = [&, layer = ip](const std::string& link) {
        return static_cast<uint32_t>(
            layer->GetInterfaceForDevice(DeviceOn(network, link, route.node)));
    };
    std::vector<uint32_t> outputs;
    for (const std::string& link : route.to)
    {
        outputs.push_back(interfaceOn(link));
    }
    routes->AddMulticastRoute(Family::ToAddress(IpAddress::Parse(route.source)),
                              Family::ToAddress(IpAddress::Parse(route.group)),
                              interfaceOn(route.from),
                              outputs);
}

/** Adds a flow's route to its multicast group to the static routes of the sender. */
void
AddRouteToGroup(const viaduct::scenario::Flow& flow, const Network& network)
{
    const IpAddress group = IpAddress::Parse(flow.group);
    const int length = group.family == Family::kIpv4 ? 32 : 128;
    AddRoute(DeviceOn(network, flow.link, flow.from), {group, length}, {group.family, {}});
}

} // namespace

void
AddMulticastRoutes(const Scenario& scenario, const Network& network)
{
    for (const auto& route : scenario.multicast)
    {
        if (!network.IsLocal(route.node))
        {
            continue;
        }
        if (IpAddress::Parse(route.group).family == Family::kIpv4)
        {
            AddMulticastRoute<ipfamily::V4>(route, network);
        }
        else
        {
            AddMulticastRoute<ipfamily::V6>(route, network);
        }
    }
    for (size_t i = 0; i < scenario.flows.size(); i++)
    {
        const auto& flow = scenario.flows[i];
        if (scenario.mode == viaduct::scenario::Mode::kSimulate && !flow.group.empty() &&
            viaduct::scenario::StreamOf(scenario, i) == i)
        {
            AddRouteToGroup(flow, network);
        }
    }
}

} // namespace ns3::sim
