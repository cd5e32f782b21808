/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_IP_FAMILY_H
#define VIADUCT_IP_FAMILY_H

#include "ns3/base/wire-conversion.h"

#include "ns3/ipv4-header.h"
#include "ns3/ipv4-list-routing.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4-routing-table-entry.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6-header.h"
#include "ns3/ipv6-list-routing.h"
#include "ns3/ipv6-route.h"
#include "ns3/ipv6-routing-protocol.h"
#include "ns3/ipv6-routing-table-entry.h"
#include "ns3/ipv6-static-routing.h"
#include "ns3/ipv6.h"
#include "ns3/loopback-net-device.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/socket.h"

#include "base/wire/address.h"

#include <cstdint>
#include <vector>

/**
 * @ingroup viaduct
 * The types and functions that have different names in ns-3's IPv4 and IPv6, and algorithms common
 * to both.
 */
namespace ns3::ipfamily
{

/** The names of ns-3's types and functions for IPv4. */
struct V4
{
    using Layer = Ipv4;
    using Protocol = Ipv4RoutingProtocol;
    using ListProtocol = Ipv4ListRouting;
    using StaticProtocol = Ipv4StaticRouting;
    using Entry = Ipv4RoutingTableEntry;
    using Header = Ipv4Header;
    using Route = Ipv4Route;
    static constexpr auto FAMILY = viaduct::wire::Family::kIpv4;
    static constexpr auto ToAddress = &wireconversion::ToIpv4;
    static constexpr auto DestinationMask = &Entry::GetDestNetworkMask;
    static constexpr auto GetHops = &Header::GetTtl;
    static constexpr auto SetHops = &Header::SetTtl;
};

/** The names of ns-3's types and functions for IPv6. */
struct V6
{
    using Layer = Ipv6;
    using Protocol = Ipv6RoutingProtocol;
    using ListProtocol = Ipv6ListRouting;
    using StaticProtocol = Ipv6StaticRouting;
    using Entry = Ipv6RoutingTableEntry;
    using Header = Ipv6Header;
    using Route = Ipv6Route;
    static constexpr auto FAMILY = viaduct::wire::Family::kIpv6;
    static constexpr auto ToAddress = &wireconversion::ToIpv6;
    static constexpr auto DestinationMask = &Entry::GetDestNetworkPrefix;
    static constexpr auto GetHops = &Header::GetHopLimit;
    static constexpr auto SetHops = &Header::SetHopLimit;
};

/**
 * @param ip an IP layer
 * @param interface the index of one of the layer's interfaces
 * @return the interface's addresses
 */
template <class Layer>
std::vector<viaduct::wire::IpPrefix>
AddressesOf(Ptr<Layer> ip, uint32_t interface)
{
    std::vector<viaduct::wire::IpPrefix> addresses;
    for (uint32_t i = 0; i < ip->GetNAddresses(interface); i++)
    {
        addresses.push_back(wireconversion::ToWire(ip->GetAddress(interface, i)));
    }
    return addresses;
}

/**
 * @param node a node
 * @param device one of the node's devices
 * @return the device's addresses, IPv4 addresses before IPv6 addresses
 */
inline std::vector<viaduct::wire::IpPrefix>
AddressesOf(Ptr<Node> node, Ptr<NetDevice> device)
{
    std::vector<viaduct::wire::IpPrefix> addresses;
    const auto add = [&](auto ip) {
        const int32_t interface = ip ? ip->GetInterfaceForDevice(device) : -1;
        if (interface >= 0)
        {
            const auto more = AddressesOf(ip, static_cast<uint32_t>(interface));
            addresses.insert(addresses.end(), more.begin(), more.end());
        }
    };
    add(node->GetObject<Ipv4>());
    add(node->GetObject<Ipv6>());
    return addresses;
}

/** Appends a routing protocol, or the protocols inside list routing, to a list.
 * @param top a routing protocol
 * @param [out] protocols the list; gets `top`, or, if `top` is list routing, the protocols inside
 * `top`, highest priority first
 */
template <class Family>
void
AppendProtocols(Ptr<typename Family::Protocol> top,
                std::vector<Ptr<typename Family::Protocol>>& protocols)
{
    const auto list = DynamicCast<typename Family::ListProtocol>(top);
    if (!list)
    {
        protocols.push_back(top);
        return;
    }
    for (uint32_t i = 0; i < list->GetNRoutingProtocols(); i++)
    {
        int16_t priority;
        AppendProtocols<Family>(list->GetRoutingProtocol(i, priority), protocols);
    }
}

/**
 * @param ip an IP layer, or null
 * @return the layer's routing protocols, also protocols inside list routing, highest priority
 * first; empty if there is no layer
 */
template <class Family>
std::vector<Ptr<typename Family::Protocol>>
ProtocolsOf(Ptr<typename Family::Layer> ip)
{
    std::vector<Ptr<typename Family::Protocol>> protocols;
    if (const auto top = ip ? ip->GetRoutingProtocol() : nullptr)
    {
        AppendProtocols<Family>(top, protocols);
    }
    return protocols;
}

/** A routing protocol's answer to a query for the next hop to an address. */
struct NextHop
{
    viaduct::wire::IpAddress gateway; //!< the next hop; unspecified: destination on link
    int32_t interface {
        - 1
    }; //!< output interface; -1: no route, or a route through the loopback device
};

/**
 * @param ip an IP layer
 * @param protocol the layer's routing protocol whose RouteOutput() is called
 * @param destination the address whose next hop is returned
 * @param packet the packet that would be sent; may be null except for DSDV
 * @return the next hop to the destination
 */
template <class Family>
NextHop
Ask(Ptr<typename Family::Layer> ip,
    Ptr<typename Family::Protocol> protocol,
    const viaduct::wire::IpAddress& destination,
    Ptr<Packet> packet = nullptr)
{
    typename Family::Header header;
    header.SetDestination(Family::ToAddress(destination));
    Socket::SocketErrno error;
    const auto route = protocol->RouteOutput(packet, header, nullptr, error);
    if (!route || DynamicCast<LoopbackNetDevice>(route->GetOutputDevice()))
    {
        return {};
    }
    return {wireconversion::ToWire(route->GetGateway()),
            ip->GetInterfaceForDevice(route->GetOutputDevice())};
}

} // namespace ns3::ipfamily

#endif // VIADUCT_IP_FAMILY_H
