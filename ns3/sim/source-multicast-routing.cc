/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/source-multicast-routing.h"

#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-table-entry.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6-route.h"
#include "ns3/ipv6-routing-table-entry.h"
#include "ns3/ipv6.h"

namespace ns3::sim
{

namespace
{

/**
 * @tparam Route the type of route by which ns-3 forwards
 * @param routing the protocol that has the multicast routes
 * @param source the packet's source
 * @param group the packet's destination
 * @param input the interface at which the packet arrived
 * @return the first route that applies to the packet; null: no route applies
 */
template <class Route, class Routing, class Address>
Ptr<Route>
FindRoute(const Routing& routing, const Address& source, const Address& group, int32_t input)
{
    for (uint32_t i = 0; i < routing.GetNMulticastRoutes(); i++)
    {
        const auto entry = routing.GetMulticastRoute(i);
        if (entry.GetGroup() != group || static_cast<int32_t>(entry.GetInputInterface()) != input ||
            (entry.GetOrigin() != source && entry.GetOrigin() != Address::GetAny()))
        {
            continue;
        }
        Ptr<Route> route = Create<Route>();
        route->SetGroup(group);
        route->SetOrigin(source);
        route->SetParent(entry.GetInputInterface());
        for (uint32_t output = 0; output < entry.GetNOutputInterfaces(); output++)
        {
            route->SetOutputTtl(entry.GetOutputInterface(output), Route::MAX_TTL - 1);
        }
        return route;
    }
    return nullptr;
}

} // namespace

bool
Ipv4SourceStaticRouting::RouteInput(Ptr<const Packet> p,
                                    const Ipv4Header& header,
                                    Ptr<const NetDevice> idev,
                                    const UnicastForwardCallback& ucb,
                                    const MulticastForwardCallback& mcb,
                                    const LocalDeliverCallback& lcb,
                                    const ErrorCallback& ecb)
{
    if (!header.GetDestination().IsMulticast())
    {
        return Ipv4StaticRouting::RouteInput(p, header, idev, ucb, mcb, lcb, ecb);
    }
    const auto route = FindRoute<Ipv4MulticastRoute>(
        *this, header.GetSource(), header.GetDestination(), m_ip->GetInterfaceForDevice(idev));
    if (route)
    {
        mcb(route, p, header);
    }
    return route != nullptr;
}

void
Ipv4SourceStaticRouting::SetIpv4(Ptr<Ipv4> ipv4)
{
    m_ip = ipv4;
    Ipv4StaticRouting::SetIpv4(ipv4);
}

void
Ipv4SourceStaticRouting::DoDispose()
{
    m_ip = nullptr;
    Ipv4StaticRouting::DoDispose();
}

bool
Ipv6SourceStaticRouting::RouteInput(Ptr<const Packet> p,
                                    const Ipv6Header& header,
                                    Ptr<const NetDevice> idev,
                                    const UnicastForwardCallback& ucb,
                                    const MulticastForwardCallback& mcb,
                                    const LocalDeliverCallback& lcb,
                                    const ErrorCallback& ecb)
{
    if (!header.GetDestination().IsMulticast())
    {
        return Ipv6StaticRouting::RouteInput(p, header, idev, ucb, mcb, lcb, ecb);
    }
    const auto route = FindRoute<Ipv6MulticastRoute>(
        *this, header.GetSource(), header.GetDestination(), m_ip->GetInterfaceForDevice(idev));
    if (route)
    {
        mcb(idev, route, p, header);
    }
    return route != nullptr;
}

void
Ipv6SourceStaticRouting::SetIpv6(Ptr<Ipv6> ipv6)
{
    m_ip = ipv6;
    Ipv6StaticRouting::SetIpv6(ipv6);
}

void
Ipv6SourceStaticRouting::DoDispose()
{
    m_ip = nullptr;
    Ipv6StaticRouting::DoDispose();
}

} // namespace ns3::sim
