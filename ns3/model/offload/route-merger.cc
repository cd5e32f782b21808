/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "route-merger.h"

#include "wire/address_scope.h"

#include <algorithm>
#include <set>

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

bool
Covers(const IpPrefix& wide, const IpPrefix& narrow)
{
    return wide.length <= narrow.length && wide.Contains(narrow.address);
}

/** @return whether a host route goes to this address of an interface, or to all on its network */
bool
GoesToInterface(const IpAddress& destination, const IpPrefix& own)
{
    const bool hasBroadcast = destination.family == viaduct::wire::Family::kIpv4 && own.length < 31;
    return destination == own.address ||
           (hasBroadcast && destination == viaduct::wire::BroadcastOf(own));
}

/** The routes with the best metric, and the destinations that have several of these. */
struct BestRoutes
{
    explicit BestRoutes(const std::vector<RouteCandidate>& routes)
    {
        for (const RouteCandidate& route : routes)
        {
            auto [found, inserted] = best.emplace(route.destination, route);
            if (inserted || route.metric > found->second.metric)
            {
                continue;
            }
            if (route.metric < found->second.metric)
            {
                found->second = route;
                tied.erase(route.destination);
            }
            else
            {
                tied.insert(route.destination);
            }
        }
    }

    std::map<IpPrefix, RouteCandidate> best; //!< by destination
    std::set<IpPrefix> tied;                 //!< destinations with several
};

} // namespace

template <class Family>
RouteMerger<Family>::RouteMerger(Ptr<typename Family::Layer> ip,
                                 const std::map<Ptr<NetDevice>, std::string>& names)
    : m_ip(std::move(ip)), m_names(names)
{
}

template <class Family>
bool
RouteMerger<Family>::IsKernelsOwn(const RouteCandidate& route) const
{
    const IpPrefix& destination = route.destination;
    const IpAddress& network = destination.address;
    if (network.IsMulticast() || viaduct::wire::IsLinkLocal(network) ||
        viaduct::wire::IsLoopback(network))
    {
        return true;
    }
    for (uint32_t i = 0; i < m_ip->GetNInterfaces(); i++)
    {
        for (const IpPrefix& own : ipfamily::AddressesOf(m_ip, i))
        {
            const bool isConnected = i == route.interface && route.gateway.IsUnspecified() &&
                                     own.Network() == destination;
            if (isConnected || (IsHost(destination) && GoesToInterface(network, own)))
            {
                return true;
            }
        }
    }
    return false;
}

template <class Family>
bool
RouteMerger<Family>::IsWanted(const RouteCandidate& route) const
{
    const bool isHidden = std::any_of(m_above.begin(), m_above.end(), [&](const IpPrefix& wide) {
        return Covers(wide, route.destination);
    });
    return !isHidden && route.interface < m_ip->GetNInterfaces() && m_ip->IsUp(route.interface) &&
           !IsKernelsOwn(route);
}

template <class Family>
void
RouteMerger<Family>::Add(const std::vector<RouteCandidate>& routes)
{
    std::vector<IpPrefix> here;
    for (const RouteCandidate& route : routes)
    {
        if (!IsWanted(route))
        {
            continue;
        }
        const auto name = m_names.find(m_ip->GetNetDevice(route.interface));
        if (name == m_names.end())
        {
            m_unmapped++;
            continue;
        }
        const IpPrefix& destination = route.destination;
        viaduct::fib::Route entry{destination, route.gateway, name->second, 0};
        if (route.gateway == destination.address && IsHost(destination))
        {
            entry.gateway = IpAddress{destination.address.family, {}}; // a neighbour: on link
        }
        m_table[viaduct::fib::KeyOf(entry)] = entry;
        here.push_back(destination);
    }
    m_above.insert(m_above.end(), here.begin(), here.end());
}

template <class Family>
void
RouteMerger<Family>::AddBest(const std::vector<RouteCandidate>& routes,
                             Ptr<typename Family::Protocol> protocol)
{
    BestRoutes found(routes);
    // Protocols differ in which of two equal routes they use, so the protocol is queried.
    for (const IpPrefix& destination : found.tied)
    {
        const auto hop = ipfamily::Ask<Family>(m_ip, protocol, destination.address);
        for (const RouteCandidate& route : routes)
        {
            if (route.destination == destination && route.gateway == hop.gateway &&
                route.metric == found.best[destination].metric &&
                static_cast<int32_t>(route.interface) == hop.interface)
            {
                found.best[destination] = route;
            }
        }
    }
    std::vector<RouteCandidate> best;
    for (const auto& [destination, route] : found.best)
    {
        best.push_back(route);
    }
    Add(best);
}

template class RouteMerger<ipfamily::V4>;
template class RouteMerger<ipfamily::V6>;

} // namespace ns3
