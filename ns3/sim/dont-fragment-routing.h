/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_DONT_FRAGMENT_ROUTING_H
#define VIADUCT_SIM_DONT_FRAGMENT_ROUTING_H

#include "ns3/callback.h"
#include "ns3/ipv4-list-routing.h"

namespace ns3::sim
{

/**
 * A list of routing protocols that honours the bit "don't fragment" of packets it forwards, as
 * routers do (RFC 1191, section 4): a packet that is too long for its next link is dropped, and its
 * sender gets the ICMP error with that link's MTU. ns-3's own IP layer would fragment the packet.
 *
 * A route without a device counts as no route. ns-3's DSDV returns such a route if its table has a
 * next hop, but no path to it (3.44 to 3.48: RoutingProtocol::RouteOutput()), and ns-3's IP layer
 * asserts.
 */
class DontFragmentRouting : public Ipv4ListRouting
{
  public:
    /** The callback for each packet that was dropped for its length; its arguments are the packet
     * and the packet's IP header. */
    using DropCallback = Callback<void, Ptr<const Packet>, const Ipv4Header&>;

    /** @param dropped called for each packet that is too long for its next link */
    void SetDropCallback(DropCallback dropped);

    Ptr<Ipv4Route> RouteOutput(Ptr<Packet> p,
                               const Ipv4Header& header,
                               Ptr<NetDevice> oif,
                               Socket::SocketErrno& sockerr) override;
    bool RouteInput(Ptr<const Packet> p,
                    const Ipv4Header& header,
                    Ptr<const NetDevice> idev,
                    const UnicastForwardCallback& ucb,
                    const MulticastForwardCallback& mcb,
                    const LocalDeliverCallback& lcb,
                    const ErrorCallback& ecb) override;
    void SetIpv4(Ptr<Ipv4> ipv4) override;

  protected:
    void DoDispose() override;

  private:
    void Forward(Ptr<Ipv4Route> route,
                 Ptr<const Packet> packet,
                 const Ipv4Header& header,
                 const UnicastForwardCallback& ucb,
                 const ErrorCallback& ecb);

    Ptr<Ipv4> m_ip; //!< the node's IP layer
    /** The unicast callback with which RouteInput() was first called, usually the IP layer's
     * callback. */
    UnicastForwardCallback m_ucb;
    UnicastForwardCallback m_forward; //!< callback that calls Forward() with m_ucb; created once
    DropCallback m_dropped;           //!< called for each packet that was dropped for its length
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_DONT_FRAGMENT_ROUTING_H
