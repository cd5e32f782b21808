/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_HANDOVER_ROUTES_H
#define VIADUCT_HANDOVER_ROUTES_H

#include "ns3/offload/upcall-port.h"

#include "plane/fib/route_sink.h"

#include <memory>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * Installs routes so that packets stay in order: packets that take a new route wait in the kernel
 * until the UpcallPort has sent the packets that the kernel passed up to the routing protocol
 * before. The wait lasts as long as three calls of the broker, plus the time to send the packets
 * that were passed up.
 */
class HandoverRoutes : public viaduct::fib::RouteSink
{
  public:
    /**
     * @param routes applies routes to the node's data plane
     * @param upcalls handles the node's packets without a route
     */
    HandoverRoutes(std::shared_ptr<viaduct::fib::RouteSink> routes, Ptr<UpcallPort> upcalls);

  private:
    void DoApply(const viaduct::fib::RouteChanges& changes) override;
    void AddNeighbours(const std::vector<viaduct::fib::Route>& routes,
                       std::vector<UpcallPort::Neighbour>& neighbours) const;

    std::shared_ptr<viaduct::fib::RouteSink> m_routes; //!< applies routes to the node's data plane
    Ptr<UpcallPort> m_upcalls;                         //!< handles packets without a route
};

} // namespace ns3

#endif // VIADUCT_HANDOVER_ROUTES_H
