/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/dont-fragment-routing.h"

#include "ns3/icmpv4-l4-protocol.h"
#include "ns3/ipv4-route.h"
#include "ns3/net-device.h"

namespace ns3::sim
{

Ptr<Ipv4Route>
DontFragmentRouting::RouteOutput(Ptr<Packet> p,
                                 const Ipv4Header& header,
                                 Ptr<NetDevice> oif,
                                 Socket::SocketErrno& sockerr)
{
    const auto route = Ipv4ListRouting::RouteOutput(p, header, oif, sockerr);
    if (route && !route->GetOutputDevice())
    {
        sockerr = Socket::ERROR_NOROUTETOHOST;
        return nullptr;
    }
    return route;
}

bool
DontFragmentRouting::RouteInput(Ptr<const Packet> p,
                                const Ipv4Header& header,
                                Ptr<const NetDevice> idev,
                                const UnicastForwardCallback& ucb,
                                const MulticastForwardCallback& mcb,
                                const LocalDeliverCallback& lcb,
                                const ErrorCallback& ecb)
{
    const auto make = [&] {
        return UnicastForwardCallback(
            [this, ucb, ecb](Ptr<Ipv4Route> route,
                             Ptr<const Packet> packet,
                             const Ipv4Header& its) { Forward(route, packet, its, ucb, ecb); });
    };
    if (m_ucb.IsNull())
    {
        m_ucb = ucb;
        m_forward = make();
    }
    // Each callback has copies of `ucb` and `ecb`: a routing protocol may keep the packet, and call
    // the callback after RouteInput() was called for other packets.
    return Ipv4ListRouting::RouteInput(
        p, header, idev, ucb.IsEqual(m_ucb) ? m_forward : make(), mcb, lcb, ecb);
}

void
DontFragmentRouting::Forward(Ptr<Ipv4Route> route,
                             Ptr<const Packet> packet,
                             const Ipv4Header& header,
                             const UnicastForwardCallback& ucb,
                             const ErrorCallback& ecb)
{
    if (!m_ip)
    {
        return; // no IP layer: the simulation has ended
    }
    if (!route || !route->GetOutputDevice())
    {
        return ecb(packet, header, Socket::ERROR_NOROUTETOHOST);
    }
    const uint32_t size = packet->GetSize() + header.GetSerializedSize();
    const uint16_t mtu = route->GetOutputDevice()->GetMtu();
    // Packets whose TTL has expired are passed on, because ns-3's IP layer drops them.
    if (!header.IsDontFragment() || size <= mtu || header.GetTtl() <= 1)
    {
        return ucb(route, packet, header);
    }
    m_ip->GetObject<Icmpv4L4Protocol>()->SendDestUnreachFragNeeded(header, packet, mtu);
    if (!m_dropped.IsNull())
    {
        m_dropped(packet, header);
    }
}

void
DontFragmentRouting::SetDropCallback(DropCallback dropped)
{
    m_dropped = dropped;
}

void
DontFragmentRouting::SetIpv4(Ptr<Ipv4> ipv4)
{
    m_ip = ipv4;
    Ipv4ListRouting::SetIpv4(ipv4);
}

void
DontFragmentRouting::DoDispose()
{
    m_ip = nullptr;
    m_dropped.Nullify();
    m_ucb.Nullify();
    m_forward.Nullify();
    Ipv4ListRouting::DoDispose();
}

} // namespace ns3::sim
