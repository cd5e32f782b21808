/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_HANDOVER_ROUTES_H
#define VIADUCT_HANDOVER_ROUTES_H

#include "upcall-port.h"

#include "plane/fib/route_sink.h"

#include <memory>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * Installs routes so that no packet overtakes another: what takes a new route waits in the kernel
 * until the packets that went up before have been sent. The wait is that of three calls of the
 * broker and of sending what was there.
 */
class HandoverRoutes : public viaduct::fib::RouteSink
{
  public:
    /**
     * @param routes the node's data plane
     * @param upcalls its packets without a route
     */
    HandoverRoutes(std::shared_ptr<viaduct::fib::RouteSink> routes, Ptr<UpcallPort> upcalls);

  private:
    void DoApply(const viaduct::fib::RouteChanges& changes) override;
    void AddNeighbours(const std::vector<viaduct::fib::Route>& routes,
                       std::vector<UpcallPort::Neighbour>& neighbours) const;

    std::shared_ptr<viaduct::fib::RouteSink> m_routes; //!< the node's data plane
    Ptr<UpcallPort> m_upcalls;                         //!< packets without a route
};

} // namespace ns3

#endif // VIADUCT_HANDOVER_ROUTES_H
