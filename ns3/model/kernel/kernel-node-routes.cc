/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "kernel-node-routes.h"

#include <optional>
#include <utility>

namespace ns3
{

using viaduct::fib::Route;
using viaduct::wire::IpAddress;

namespace
{

std::optional<IpAddress>
GatewayOf(const Route& route)
{
    return route.gateway.IsUnspecified() ? std::nullopt : std::optional(route.gateway);
}

} // namespace

KernelNodeRoutes::KernelNodeRoutes(viaduct::guest::AgentClient& agent,
                                   uint32_t node,
                                   std::map<std::string, int> ifindexes)
    : m_agent(agent), m_node(node), m_ifindexes(std::move(ifindexes))
{
}

void
KernelNodeRoutes::DoApply(const viaduct::fib::RouteChanges& changes)
{
    for (const auto* routes : {&changes.replaced, &changes.added})
    {
        for (const Route& route : *routes)
        {
            m_agent.AddRoute(m_node,
                             route.destination,
                             GatewayOf(route),
                             m_ifindexes.at(route.interface),
                             route.metric);
        }
    }
    for (const Route& route : changes.removed)
    {
        // One whose interface went down is gone already.
        m_agent.RemoveRoute(m_node,
                            route.destination,
                            GatewayOf(route),
                            m_ifindexes.at(route.interface),
                            route.metric,
                            0,
                            [](const auto&) {});
    }
}

} // namespace ns3
