/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/routes/route-merger.h"

#include "base/wire/address_scope.h"

#include <algorithm>
#include <type_traits>

namespace ns3
{

using viaduct::wire::IpAddress;
using viaduct::wire::IpPrefix;

namespace
{

bool
IsHost(const IpPrefix& prefix)
{
    return prefix.length == prefix.address.Length() * 8;
}

/** @return whether the destination of a host route is the interface's address @p own, or the
 * broadcast address of its network */
bool
GoesToInterface(const IpAddress& destination, const IpPrefix& own)
{
    const bool hasBroadcast = destination.family == viaduct::wire::Family::kIpv4 && own.length < 31;
    return destination == own.address ||
           (hasBroadcast && destination == viaduct::wire::BroadcastOf(own));
}

/** Returns the best metric of each destination. */
std::map<IpPrefix, uint32_t>
BestMetrics(const std::vector<RouteCandidate>& routes)
{
    std::map<IpPrefix, uint32_t> best;
    for (const RouteCandidate& route : routes)
    {
        uint32_t& metric = best.emplace(route.destination, route.metric).first->second;
        metric = std::min(metric, route.metric);
    }
    return best;
}

} // namespace

template <class Family>
RouteMerger<Family>::RouteMerger(Ptr<typename Family::Layer> ip,
                                 const std::map<Ptr<NetDevice>, std::string>& names)
    : m_ip(std::move(ip)), m_names(names)
{
    for (uint32_t i = 0; i < m_ip->GetNInterfaces(); i++)
    {
        for (const IpPrefix& own : ipfamily::AddressesOf(m_ip, i))
        {
            m_own.emplace_back(i, own);
        }
    }
}

template <class Family>
bool
RouteMerger<Family>::IsConnected(const RouteCandidate& route) const
{
    return std::any_of(m_own.begin(), m_own.end(), [&](const auto& entry) {
        const auto& [interface, own] = entry;
        return interface == route.interface && route.gateway.IsUnspecified() &&
               own.Network() == route.destination;
    });
}

template <class Family>
bool
RouteMerger<Family>::IsKernelsOwn(const IpPrefix& destination) const
{
    const IpAddress& network = destination.address;
    // A route to several multicast groups is not a route of the kernel itself: it determines the
    // interface of the node's own packets to the groups.
    const bool isGroups = destination.address.family == viaduct::wire::Family::kIpv4 &&
                          network.IsMulticast() && !IsHost(destination);
    if ((network.IsMulticast() && !isGroups) || viaduct::wire::IsLinkLocal(network) ||
        viaduct::wire::IsLoopback(network) || network == IpAddress::FromIpv4(0xffffffff))
    {
        return true;
    }
    return IsHost(destination) && std::any_of(m_own.begin(), m_own.end(), [&](const auto& entry) {
               return GoesToInterface(network, entry.second);
           });
}

// Returns whether the kernel has routes over an interface. The kernel has no routes over an
// interface that is down, and drops IPv4 routes over an interface that loses its last address
// (fib_inetaddr_event() in net/ipv4/fib_frontend.c).
template <class Family>
bool
RouteMerger<Family>::HasRoutes(uint32_t interface) const
{
    const bool isIpv4 = std::is_same_v<Family, ipfamily::V4>;
    return m_ip->IsUp(interface) && (!isIpv4 || m_ip->GetNAddresses(interface) > 0);
}

template <class Family>
bool
RouteMerger<Family>::IsWanted(const RouteCandidate& route) const
{
    const IpPrefix& destination = route.destination;
    const bool isHidden = std::any_of(m_lengths.begin(), m_lengths.end(), [&](int length) {
        return length <= destination.length &&
               m_above.contains(IpPrefix{destination.address, length}.Network());
    });
    return !isHidden && route.interface < m_ip->GetNInterfaces() && HasRoutes(route.interface);
}

template <class Family>
void
RouteMerger<Family>::AddHop(const RouteCandidate& route, viaduct::fib::RouteTable& table)
{
    const auto name = m_names.find(m_ip->GetNetDevice(route.interface));
    if (name == m_names.end())
    {
        m_unmapped++;
        return;
    }
    const IpPrefix& destination = route.destination;
    viaduct::fib::NextHop hop{route.gateway, name->second};
    if (route.gateway == destination.address && IsHost(destination))
    {
        // The destination is a neighbour: the route is on link.
        hop.gateway = IpAddress{destination.address.family, {}};
    }
    viaduct::fib::Route& entry = table[{destination, 0}];
    entry.destination = destination;
    const auto place = std::lower_bound(entry.next_hops.begin(), entry.next_hops.end(), hop);
    if (place == entry.next_hops.end() || *place != hop)
    {
        entry.next_hops.insert(place, hop);
    }
}

template <class Family>
void
RouteMerger<Family>::Cover(const viaduct::fib::RouteTable& routes)
{
    for (const auto& [key, route] : routes)
    {
        m_above.insert(key.destination);
        m_lengths.insert(key.destination.length);
    }
}

template <class Family>
void
RouteMerger<Family>::Add(const std::vector<RouteCandidate>& routes)
{
    const std::map<IpPrefix, uint32_t> best = BestMetrics(routes);
    Part part;
    for (const RouteCandidate& route : routes)
    {
        if (route.metric != best.at(route.destination) || IsKernelsOwn(route.destination) ||
            !IsWanted(route))
        {
            continue;
        }
        AddHop(route, IsConnected(route) ? part.connected : part.routes);
    }
    for (const auto& [key, route] : part.connected)
    {
        part.routes.erase(key);
    }
    Cover(part.routes);
    Cover(part.connected);
    m_parts.push_back(std::move(part));
}

template <class Family>
std::set<IpPrefix>
RouteMerger<Family>::ConnectedNetworks() const
{
    std::set<IpPrefix> networks;
    for (const auto& [interface, own] : m_own)
    {
        if (m_names.contains(m_ip->GetNetDevice(interface)) && m_ip->IsUp(interface) &&
            !viaduct::wire::IsLinkLocal(own.address) && !IsHost(own))
        {
            networks.insert(own.Network());
        }
    }
    return networks;
}

/** Returns the number of protocols, counted from the highest priority, whose routes the kernel must
 * look up before the connected networks. */
template <class Family>
size_t
RouteMerger<Family>::CountPreferred() const
{
    size_t count = 0;
    for (const IpPrefix& network : ConnectedNetworks())
    {
        for (size_t i = 0; i < m_parts.size(); i++)
        {
            const auto& [routes, connected] = m_parts[i];
            if (connected.contains({network, 0}))
            {
                break;
            }
            if (std::any_of(routes.begin(), routes.end(), [&](const auto& entry) {
                    const IpPrefix& destination = entry.first.destination;
                    return destination.length <= network.length &&
                           destination.Contains(network.address);
                }))
            {
                count = std::max(count, i + 1);
            }
        }
    }
    return count;
}

template <class Family>
viaduct::fib::RouteTable
RouteMerger<Family>::GetTable(size_t connected) const
{
    using viaduct::fib::Table;
    viaduct::fib::RouteTable table;
    const size_t preferred = CountPreferred();
    for (size_t i = 0; i < m_parts.size(); i++)
    {
        const auto add = [&](const viaduct::fib::RouteTable& routes) {
            for (auto [key, route] : routes)
            {
                route.table = i < preferred ? Table::kPreferred : Table::kMain;
                table.emplace(viaduct::fib::KeyOf(route), route);
            }
        };
        add(m_parts[i].routes);
        if (i < std::max(preferred, connected))
        {
            add(m_parts[i].connected);
        }
    }
    return table;
}

template class RouteMerger<ipfamily::V4>;
template class RouteMerger<ipfamily::V6>;

} // namespace ns3
