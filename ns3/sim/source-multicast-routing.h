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
 * ns-3's static routing, whose routes to groups apply to packets of the route's source only, as the
 * kernel's do. ns-3 itself takes the first route of the group and the input for packets of any
 * source (3.44 to 3.48: Ipv4StaticRouting::LookupStatic(), "Skipping this case (SSM)"). A route
 * without a source (0.0.0.0) applies to all sources.
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

/** ns-3's static routing of IPv6, whose routes to groups apply to packets of the route's source
 * only. */
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
