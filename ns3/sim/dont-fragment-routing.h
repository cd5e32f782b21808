/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_SIM_DONT_FRAGMENT_ROUTING_H
#define VIADUCT_SIM_DONT_FRAGMENT_ROUTING_H

#include "ns3/ipv4-list-routing.h"

#include <cstdint>

namespace ns3::sim
{

/**
 * A list of routing protocols that honours the bit "don't fragment" of packets it forwards, as
 * routers do (RFC 1191, section 4): one that is too long for its next link is dropped, and its
 * sender gets the ICMP error with that link's MTU. ns-3's own IP layer fragments it nevertheless.
 */
class DontFragmentRouting : public Ipv4ListRouting
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
    /** @return whether some interface's MTU is less than this */
    bool IsTooLongSomewhere(uint32_t size) const;

    Ptr<Ipv4> m_ip; //!< the node's IP layer
};

} // namespace ns3::sim

#endif // VIADUCT_SIM_DONT_FRAGMENT_ROUTING_H
