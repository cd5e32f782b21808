/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_SOURCE_MULTICAST_ROUTING_H
#define VIADUCT_SIM_SOURCE_MULTICAST_ROUTING_H

#include "ns3/base/ns3-access.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv6-static-routing.h"

namespace ns3::sim
{

/**
 * ns-3's static routing for IPv4, in which a route to a multicast group applies only to packets
 * from the route's source, as in the kernel. ns-3's own class uses the first route of the group and
 * the input interface for packets from any source (3.44 to 3.48: Ipv4StaticRouting::LookupStatic(),
 * "Skipping this case (SSM)"). A route without a source (0.0.0.0) applies to all sources.
 */
class Ipv4SourceStaticRouting : public Ipv4StaticRouting, public ns3access::InheritsUnicastTable
{
  public:
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
    Ptr<Ipv4> m_ip; //!< the node's IP layer
};

/** ns-3's static routing for IPv6, in which a route to a multicast group applies only to packets
 * from the route's source. */
class Ipv6SourceStaticRouting : public Ipv6StaticRouting, public ns3access::InheritsUnicastTable
{
  public:
    bool RouteInput(Ptr<const Packet> p,
                    const Ipv6Header& header,
                    Ptr<const NetDevice> idev,
                    const UnicastForwardCallback& ucb,
                    const MulticastForwardCallback& mcb,
                    const LocalDeliverCallback& lcb,
                    const ErrorCallback& ecb) override;
    void SetIpv6(Ptr<Ipv6> ipv6) override;

  protected:
    void DoDispose() override;

  private:
    Ptr<Ipv6> m_ip; //!< the node's IP layer
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_SOURCE_MULTICAST_ROUTING_H
