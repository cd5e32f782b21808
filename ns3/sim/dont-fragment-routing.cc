/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "dont-fragment-routing.h"

#include "ns3/icmpv4-l4-protocol.h"
#include "ns3/ipv4-route.h"
#include "ns3/net-device.h"

namespace ns3::sim
{

bool
DontFragmentRouting::RouteInput(Ptr<const Packet> p,
                                const Ipv4Header& header,
                                Ptr<const NetDevice> idev,
                                const UnicastForwardCallback& ucb,
                                const MulticastForwardCallback& mcb,
                                const LocalDeliverCallback& lcb,
                                const ErrorCallback& ecb)
{
    if (!header.IsDontFragment())
    {
        return Ipv4ListRouting::RouteInput(p, header, idev, ucb, mcb, lcb, ecb);
    }
    m_ucb = ucb;
    return Ipv4ListRouting::RouteInput(p, header, idev, m_forward, mcb, lcb, ecb);
}

void
DontFragmentRouting::Forward(Ptr<Ipv4Route> route,
                             Ptr<const Packet> packet,
                             const Ipv4Header& header)
{
    const uint32_t size = packet->GetSize() + header.GetSerializedSize();
    const uint16_t mtu = route->GetOutputDevice()->GetMtu();
    if (size <= mtu || header.GetTtl() <= 1) // ns-3 drops what has expired
    {
        return m_ucb(route, packet, header);
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
    m_forward = UnicastForwardCallback(MakeCallback(&DontFragmentRouting::Forward, this));
    Ipv4ListRouting::SetIpv4(ipv4);
}

void
DontFragmentRouting::DoDispose()
{
    m_ip = nullptr;
    m_dropped.Nullify();
    Ipv4ListRouting::DoDispose();
}

} // namespace ns3::sim
