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
 * Installs routes so that no packet overtakes another: a packet that takes a new route waits in the
 * kernel until the packets that went up before have been sent. The wait is the duration of three
 * calls of the broker and of sending these packets.
 */
class HandoverRoutes : public viaduct::fib::RouteSink
{
  public:
    /**
     * @param routes the node's data plane
     * @param upcalls the node's packets without a route
     */
    HandoverRoutes(std::shared_ptr<viaduct::fib::RouteSink> routes, Ptr<UpcallPort> upcalls);

  private:
    void DoApply(const viaduct::fib::RouteChanges& changes) override;
    void AddNeighbours(const std::vector<viaduct::fib::Route>& routes,
                       std::vector<UpcallPort::Neighbour>& neighbours) const;

    std::shared_ptr<viaduct::fib::RouteSink> m_routes; //!< the node's data plane
    Ptr<UpcallPort> m_upcalls;                         //!< the node's packets without a route
};

} // namespace ns3

#endif // VIADUCT_HANDOVER_ROUTES_H
