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
    const uint32_t size = p->GetSize() + header.GetSerializedSize();
    if (!header.IsDontFragment() || !IsTooLongSomewhere(size))
    {
        return Ipv4ListRouting::RouteInput(p, header, idev, ucb, mcb, lcb, ecb);
    }
    const auto forward = [ip = m_ip, ucb, size](Ptr<Ipv4Route> route,
                                                Ptr<const Packet> packet,
                                                const Ipv4Header& sent) {
        const uint16_t mtu = route->GetOutputDevice()->GetMtu();
        if (size <= mtu || sent.GetTtl() <= 1) // ns-3 drops what has expired
        {
            return ucb(route, packet, sent);
        }
        ip->GetObject<Icmpv4L4Protocol>()->SendDestUnreachFragNeeded(sent, packet, mtu);
    };
    return Ipv4ListRouting::RouteInput(
        p, header, idev, UnicastForwardCallback(forward), mcb, lcb, ecb);
}

bool
DontFragmentRouting::IsTooLongSomewhere(uint32_t size) const
{
    for (uint32_t i = 0; i < m_ip->GetNInterfaces(); i++)
    {
        if (m_ip->GetMtu(i) < size)
        {
            return true;
        }
    }
    return false;
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
    Ipv4ListRouting::DoDispose();
}

} // namespace ns3::sim
