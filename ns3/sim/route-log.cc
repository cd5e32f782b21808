/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/route-log.h"

#include "ns3/callback.h"

#include "base/clock.h"

#include <utility>

namespace ns3::sim
{

namespace
{

std::vector<std::string>
Texts(const std::vector<viaduct::fib::Route>& routes)
{
    std::vector<std::string> texts;
    texts.reserve(routes.size());
    for (const auto& route : routes)
    {
        texts.push_back(viaduct::fib::ToString(route));
    }
    return texts;
}

} // namespace

RouteLog::RouteLog(const LabHelper& lab)
{
    for (const auto& [name, offload] : lab.GetOffloads())
    {
        offload.routes->TraceConnect("Changed", name, MakeCallback(&RouteLog::Changed, this));
    }
}

const std::vector<viaduct::result::RouteChange>&
RouteLog::GetChanges() const
{
    return m_changes;
}

uint64_t
RouteLog::GetOmitted() const
{
    return m_omitted;
}

void
RouteLog::Changed(std::string node, const viaduct::fib::RouteChanges& changes)
{
    if (m_routes + changes.size() > MAX_ROUTES)
    {
        m_omitted += changes.size();
        return;
    }
    m_routes += changes.size();
    const viaduct::Duration now = viaduct::MonotonicClock::Now() - viaduct::Instant();
    m_changes.push_back({now.ToSeconds(),
                         std::move(node),
                         Texts(changes.added),
                         Texts(changes.replaced),
                         Texts(changes.removed)});
}

} // namespace ns3::sim
