/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/packet-dependence.h"

#include "ns3/simulator.h"

namespace ns3
{

namespace
{

// Maximum age of a kept packet; the flow of an older packet may have ended.
const Time RECENT = Seconds(5);
constexpr std::size_t MAX_KEPT = 1024; // maximum number of kept packets

std::string
TextOf(const PacketDependence::Hop& hop)
{
    return hop.first.IsUnspecified() ? "interface " + std::to_string(hop.second->GetIfIndex())
                                     : hop.first.ToString();
}

} // namespace

void
PacketDependence::Note(const viaduct::wire::IpAddress& destination,
                       bool isOwn,
                       const Hop& hop,
                       std::function<Hop()> ask)
{
    if (!hop.second || !m_finding.empty())
    {
        return;
    }
    const Time now = Simulator::Now();
    if (m_last.size() >= MAX_KEPT)
    {
        m_last.clear();
    }
    Last& last = m_last[{destination, isOwn}];
    if (last.ask && last.hop != hop && now - last.at <= RECENT)
    {
        const Hop again = last.ask();
        if (again.second && again != hop)
        {
            m_finding = destination.ToString() + " (" + TextOf(hop) + " and " + TextOf(again) +
                        " for two packets at the same time)";
            return Clear();
        }
    }
    last = {hop, std::move(ask), now};
}

} // namespace ns3
