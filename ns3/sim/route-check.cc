/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/route-check.h"

#include "ns3/sim/time-conversion.h"

#include "ns3/routes/on-demand.h"
#include "ns3/simulator.h"

#include "base/clock.h"
#include "lab/broker/client.h"
#include "scenario/addresses.h"
#include "scenario/protocols.h"

#include <algorithm>
#include <optional>
#include <set>

namespace ns3::sim
{

using viaduct::broker::Passage;
using viaduct::fib::NextHop;
using viaduct::wire::Family;
using viaduct::wire::IpAddress;

namespace
{

const Time INTERVAL = MilliSeconds(20); // minimum time between two comparisons
const Time LASTING = Seconds(3);        // minimum duration of a difference that is reported

std::string
TextOf(const NextHop& hop)
{
    if (hop.interface.empty())
    {
        return "to the simulator";
    }
    return (hop.gateway.IsUnspecified() ? "" : "via " + hop.gateway.ToString() + " ") + "through " +
           hop.interface;
}

std::string
TextOf(const std::vector<NextHop>& hops)
{
    std::string text;
    for (const NextHop& hop : hops)
    {
        text += (text.empty() ? "" : ", or ") + TextOf(hop);
    }
    return text.empty() ? "nowhere" : text;
}

/** Removes a gateway that is the destination itself, because such a gateway means the same as no
 * gateway. */
NextHop
Normalize(NextHop hop, const IpAddress& destination)
{
    if (hop.gateway == destination)
    {
        hop.gateway = {destination.family, {}};
    }
    return hop;
}

} // namespace

RouteCheck::RouteCheck(const viaduct::scenario::Scenario& scenario,
                       const Network& network,
                       const Reachability& reachability,
                       const LabHelper& lab)
    : m_network(network), m_reachability(reachability), m_lab(lab)
{
    for (const auto& node : scenario.nodes)
    {
        m_isByPrograms.push_back(!node.host && !viaduct::scenario::RunsProtocol(scenario, node));
        m_names.push_back(node.name);
        m_addresses.push_back(viaduct::scenario::AddressOf(scenario, node.name));
    }
    for (const auto& attachment : lab.GetAttachments())
    {
        if (attachment.device)
        {
            m_interfaces[attachment.node->GetId()][attachment.device] = attachment.interface;
        }
    }
    m_destinations = ChooseDestinations(scenario);
}

std::vector<uint32_t>
RouteCheck::ChooseDestinations(const viaduct::scenario::Scenario& scenario) const
{
    const auto n = static_cast<uint32_t>(m_names.size());
    const auto from = static_cast<uint32_t>(m_lab.GetOffloads().size());
    const uint32_t most = std::max(1U, MAX_ROUTES / std::max(1U, from));
    const uint32_t step = std::max(1U, n / most);
    std::set<uint32_t> chosen;
    for (uint32_t i = 0; i < n; i += step)
    {
        chosen.insert(i);
    }
    for (const auto& flow : scenario.flows)
    {
        for (const std::string& end : {flow.from, flow.to})
        {
            const auto found = std::find(m_names.begin(), m_names.end(), end);
            if (found != m_names.end() && chosen.size() < std::size_t{2} * most)
            {
                chosen.insert(static_cast<uint32_t>(found - m_names.begin()));
            }
        }
    }
    return {chosen.begin(), chosen.end()};
}

std::vector<std::string>
RouteCheck::Compare() const
{
    std::vector<std::string> differences;
    std::vector<IpAddress> destinations;
    for (const uint32_t to : m_destinations)
    {
        destinations.push_back(m_addresses[to]);
    }
    for (uint32_t node = 0; node < m_names.size(); node++)
    {
        const auto offload = m_lab.GetOffloads().find(m_names[node]);
        if (offload == m_lab.GetOffloads().end() || m_isByPrograms[node])
        {
            continue;
        }
        const auto readings = offload->second.routes->GetReadings();
        if (std::any_of(readings.begin(), readings.end(), [](const auto& reading) {
                return !reading.isByTable;
            }))
        {
            // The data plane's packets have shown that the protocol's table is wrong.
            m_reachability.Distrust(node);
        }
        const auto passages = m_lab.GetBroker()->LookUp(m_names[node], destinations);
        for (std::size_t i = 0; i < passages.size(); i++)
        {
            if (!passages[i] || passages[i]->is_foreign || m_destinations[i] == node)
            {
                continue;
            }
            const std::string line = CompareRoute(node, m_destinations[i], *passages[i]);
            if (!line.empty())
            {
                differences.push_back(line);
            }
        }
    }
    return differences;
}

std::vector<std::string>
RouteCheck::Summarize() const
{
    constexpr std::size_t MAX_LINES = 10;
    std::vector<std::string> differences = Compare();
    if (differences.size() > MAX_LINES)
    {
        const std::size_t more = differences.size() - MAX_LINES;
        differences.resize(MAX_LINES);
        differences.push_back("routes: " + std::to_string(more) + " more differences like these");
    }
    return differences;
}

void
RouteCheck::AwaitAgreement(const std::function<void(const std::vector<std::string>&)>& then) const
{
    CompareUntil(Simulator::Now() + LASTING, then);
}

void
RouteCheck::CompareUntil(Time deadline,
                         const std::function<void(const std::vector<std::string>&)>& then) const
{
    const viaduct::Instant begin = viaduct::MonotonicClock::Now();
    const std::vector<std::string> differences = Summarize();
    const Time cost = ToTime(viaduct::MonotonicClock::Now() - begin);
    if (differences.empty() || Simulator::Now() >= deadline)
    {
        Simulator::Schedule(cost + MilliSeconds(1), [then, differences] { then(differences); });
        return;
    }
    constexpr int SHARE = 4;
    Simulator::Schedule(
        std::max(INTERVAL, cost * SHARE), &RouteCheck::CompareUntil, this, deadline, then);
}

bool
RouteCheck::IsUsable(uint32_t node, const IpAddress& to, uint32_t interface) const
{
    const Ptr<Node> object = m_network.GetNodes().Get(node);
    return to.family == Family::kIpv4 ? object->GetObject<Ipv4>()->IsUp(interface)
                                      : object->GetObject<Ipv6>()->IsUp(interface);
}

std::string
RouteCheck::CompareRoute(uint32_t node, uint32_t to, const Passage& passage) const
{
    const IpAddress& destination = m_addresses[to];
    const Ptr<Node> object = m_network.GetNodes().Get(node);
    const bool isIpv4 = destination.family == Family::kIpv4;
    if (isIpv4 ? FindsRoutesOnDemand<ipfamily::V4>(object)
               : FindsRoutesOnDemand<ipfamily::V6>(object))
    {
        return {};
    }
    const auto said = m_reachability.WhatProtocolsSay(node, destination);
    if (!said)
    {
        return {};
    }
    std::vector<NextHop> expected;
    if (said->hop.interface >= 0)
    {
        const auto interface = static_cast<uint32_t>(said->hop.interface);
        const Ptr<NetDevice> device = isIpv4 ? object->GetObject<Ipv4>()->GetNetDevice(interface)
                                             : object->GetObject<Ipv6>()->GetNetDevice(interface);
        const auto names = m_interfaces.find(node);
        const auto name = names == m_interfaces.end() ? decltype(names->second.end())()
                                                      : names->second.find(device);
        if (!IsUsable(node, destination, interface) || !device->IsLinkUp() ||
            names == m_interfaces.end() || name == names->second.end())
        {
            return {}; // the interface is down, or not in the lab
        }
        expected.push_back(Normalize({said->hop.gateway, name->second}, destination));
    }
    const auto isAs = [&](const std::vector<NextHop>& hops) {
        const bool goesUp = std::all_of(
            hops.begin(), hops.end(), [](const NextHop& hop) { return hop.interface.empty(); });
        if (expected.empty() || (goesUp && said->isByPacket && !hops.empty()))
        {
            return goesUp;
        }
        return std::any_of(hops.begin(), hops.end(), [&](const NextHop& hop) {
            return Normalize(hop, destination) == expected.front();
        });
    };
    if (isAs(passage.hops) && isAs(passage.own_hops))
    {
        return {};
    }
    const bool isOwn = isAs(passage.hops);
    return m_names[node] + ": packets to " + m_names[to] + " (" + destination.ToString() + ")" +
           (isOwn ? " that the node itself sends go " : " go ") +
           TextOf(isOwn ? passage.own_hops : passage.hops) +
           ", but the node's routing protocol sends these packets " + TextOf(expected);
}

} // namespace ns3::sim
