/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * Routing protocols with the habits of protocols that were not written for Viaduct, whose names and
 * headers they do not know: strange::Routing of IPv4 and strange::Routing6 of IPv6.
 *
 * Each node floods its addresses, by which the others learn the way back to it: every Interval, or
 * where Asks says so only when somebody looks for one of them. What differs from ns-3's protocols
 * is set by attributes, also during the run.
 */
#include "common.h"

#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv6-routing-protocol.h"

#include <vector>

namespace strange
{

/** strange::Routing. */
class Routing : public Common<Four>
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId()
    {
        static TypeId tid = AddAttributes(
            TypeId(Four::NAME).SetParent<Ipv4RoutingProtocol>().AddConstructor<Routing>());
        return tid;
    }

    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv4Header& header,
                    Ptr<const NetDevice>,
                    const UnicastForwardCallback& forward,
                    const MulticastForwardCallback&,
                    const LocalDeliverCallback&,
                    const ErrorCallback&) override
    {
        return Input(packet, header, [=](Ptr<Ipv4Route> route) { forward(route, packet, header); });
    }

    void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override
    {
    }

    void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override
    {
    }

    void SetIpv4(Ptr<Ipv4> ip) override
    {
        SetLayer(ip);
    }
};

/** strange::Routing6. */
class Routing6 : public Common<Six>
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId()
    {
        static TypeId tid = AddAttributes(
            TypeId(Six::NAME).SetParent<Ipv6RoutingProtocol>().AddConstructor<Routing6>());
        return tid;
    }

    bool RouteInput(Ptr<const Packet> packet,
                    const Ipv6Header& header,
                    Ptr<const NetDevice> device,
                    const UnicastForwardCallback& forward,
                    const MulticastForwardCallback&,
                    const LocalDeliverCallback&,
                    const ErrorCallback&) override
    {
        return Input(
            packet, header, [=](Ptr<Ipv6Route> route) { forward(device, route, packet, header); });
    }

    void NotifyAddAddress(uint32_t, Ipv6InterfaceAddress) override
    {
    }

    void NotifyRemoveAddress(uint32_t, Ipv6InterfaceAddress) override
    {
    }

    void NotifyAddRoute(Ipv6Address, Ipv6Prefix, Ipv6Address, uint32_t, Ipv6Address) override
    {
    }

    void NotifyRemoveRoute(Ipv6Address, Ipv6Prefix, Ipv6Address, uint32_t, Ipv6Address) override
    {
    }

    void SetIpv6(Ptr<Ipv6> ip) override
    {
        SetLayer(ip);
    }
};

NS_OBJECT_ENSURE_REGISTERED(Routing);
NS_OBJECT_ENSURE_REGISTERED(Routing6);

} // namespace strange
