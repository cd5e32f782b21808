/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/handover-routes.h"

#include "base/error.h"

#include <exception>
#include <utility>

namespace ns3
{

HandoverRoutes::HandoverRoutes(std::shared_ptr<viaduct::fib::RouteSink> routes,
                               Ptr<UpcallPort> upcalls)
    : m_routes(std::move(routes)), m_upcalls(upcalls)
{
}

void
HandoverRoutes::AddNeighbours(const std::vector<viaduct::fib::Route>& routes,
                              std::vector<UpcallPort::Neighbour>& neighbours) const
{
    for (const auto& route : routes)
    {
        for (const auto& hop : route.next_hops)
        {
            const auto& gateway =
                hop.gateway.IsUnspecified() ? route.destination.address : hop.gateway;
            const auto neighbour = m_upcalls->FindNeighbour(gateway, hop.interface);
            if (neighbour)
            {
                neighbours.push_back(*neighbour);
            }
        }
    }
}

void
HandoverRoutes::DoApply(const viaduct::fib::RouteChanges& changes)
{
    // A replaced route counts, too: the kernel may have lost the old route together with the
    // route's interface, and may then have passed up packets for the route's destination.
    if (!m_upcalls->IsOpen() || (changes.added.empty() && changes.replaced.empty()))
    {
        return m_routes->Apply(changes);
    }
    std::vector<UpcallPort::Neighbour> neighbours;
    AddNeighbours(changes.added, neighbours);
    AddNeighbours(changes.replaced, neighbours);
    m_upcalls->GetKernel().Hold(neighbours, true);
    std::exception_ptr refusal;
    try
    {
        m_routes->Apply(changes);
    }
    catch (const viaduct::Error&)
    {
        refusal = std::current_exception();
    }
    m_upcalls->Drain();
    m_upcalls->GetKernel().Hold(neighbours, false);
    if (refusal)
    {
        std::rethrow_exception(refusal);
    }
}

} // namespace ns3
