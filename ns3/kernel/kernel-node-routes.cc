/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/kernel/kernel-node-routes.h"

#include "plane/fib/kernel_routes.h"

#include <linux/rtnetlink.h>
#include <utility>

namespace ns3
{

using viaduct::fib::Route;
using viaduct::fib::Table;
using viaduct::wire::Family;
using viaduct::wire::IpPrefix;

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
            AddRules(route);
            m_agent.AddRoute(m_node, ToKernel(route));
        }
    }
    for (const Route& route : changes.removed)
    {
        // A failure to remove a route is ignored: the kernel itself removes routes over an
        // interface that goes down.
        m_agent.RemoveRoute(m_node, ToKernel(route), [](const auto&) {});
    }
}

void
KernelNodeRoutes::AddRules(const Route& route)
{
    const Family family = route.destination.address.family;
    if (route.table != Table::kPreferred || !m_withRules.insert(family).second)
    {
        return;
    }
    m_agent.AddRule(m_node, IpPrefix{{family, {}}, 0}, viaduct::fib::kPreferredTable);
    // A preferred default route must not apply to link-local addresses (fe80::/10).
    if (family == Family::kIpv6)
    {
        m_agent.AddRule(m_node, IpPrefix::Parse("fe80::/10"), RT_TABLE_MAIN);
    }
}

viaduct::guest::KernelRoute
KernelNodeRoutes::ToKernel(const Route& route) const
{
    viaduct::guest::KernelRoute result{route.destination, {}, route.metric};
    result.table = route.table == Table::kPreferred ? viaduct::fib::kPreferredTable : 0;
    for (const auto& hop : route.next_hops)
    {
        auto& entry = result.hops.emplace_back();
        entry.ifindex = m_ifindexes.at(hop.interface);
        if (!hop.gateway.IsUnspecified())
        {
            entry.gateway = hop.gateway;
        }
    }
    return result;
}

} // namespace ns3
