/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/rbridges.h"

#include "ns3/sim/type-check.h"

#include "ns3/names.h"
#include "ns3/simulator.h"

#include "scenario/protocols.h"

#include <algorithm>

namespace ns3::sim
{

using viaduct::scenario::LinkSettings;
using viaduct::scenario::NodeSettings;
using viaduct::scenario::Scenario;

namespace
{

bool
IsHost(const Scenario& scenario, const std::string& name)
{
    return std::ranges::find(scenario.nodes, name, &NodeSettings::name)->host;
}

/** Adds the devices of a node to its RBridge as ports, in the order of the links. On links that
 * connect only RBridges, the port does not serve terminals: there are no terminals, and frames for
 * terminals would only cost time.
 */
void
AddPorts(const Scenario& scenario, const Network& network, Ptr<RBridge> rbridge, Ptr<Node> node)
{
    for (const NetworkLink& link : network.GetLinks())
    {
        const LinkSettings& settings = *link.settings;
        const bool terminals = !settings.interface.empty() ||
                               std::ranges::any_of(settings.nodes, [&](const auto& name) {
                                   return IsHost(scenario, name);
                               });
        const auto own = std::ranges::find_if(
            link.devices, [&](const auto& device) { return device->GetNode() == node; });
        if (own != link.devices.end())
        {
            rbridge->AddPort(*own, terminals);
        }
    }
}

/** @return whether more than one RBridge may be on a link */
bool
ConnectsRBridges(const Scenario& scenario, const LinkSettings& link)
{
    const auto rbridges = std::ranges::count_if(
        link.nodes, [&](const auto& name) { return !IsHost(scenario, name); });
    return rbridges > 1 || !link.interface.empty();
}

} // namespace

void
SetMtus(const Scenario& scenario, const NetworkLink& link)
{
    const LinkSettings& settings = *link.settings;
    const uint32_t overhead = ConnectsRBridges(scenario, settings) ? RBridge::GetOverhead() : 0;
    for (size_t i = 0; i < link.devices.size(); i++)
    {
        const bool host = IsHost(scenario, settings.nodes[i]);
        link.devices[i]->SetMtu(settings.mtu + (host ? 0 : overhead));
    }
}

void
InstallRBridges(const Scenario& scenario, const Network& network)
{
    const ObjectFactory factory = CheckedFactory(
        scenario.routing.protocol, {RBridge::GetTypeId()}, scenario.routing.attributes);
    for (const NodeSettings& node : scenario.nodes)
    {
        if (node.host)
        {
            continue;
        }
        auto rbridge = factory.Create<RBridge>();
        Ptr<Node> object = network.GetNode(node.name);
        object->AggregateObject(rbridge);
        AddPorts(scenario, network, rbridge, object);
    }
}

void
DescribeRBridges(const Network& network, viaduct::result::SimulatorReport& report)
{
    using viaduct::rbridge::Outcome;
    for (uint32_t i = 0; i < network.GetNodes().GetN(); i++)
    {
        Ptr<Node> node = network.GetNodes().Get(i);
        const auto rbridge = node->GetObject<RBridge>();
        for (const Outcome outcome : {Outcome::kMalformed,
                                      Outcome::kNoAdjacency,
                                      Outcome::kNoRoute,
                                      Outcome::kHopCount,
                                      Outcome::kOption})
        {
            const uint64_t frames = rbridge ? rbridge->GetFrames(outcome) : 0;
            if (frames > 0)
            {
                report.counters[Names::FindName(node) + "/rbridge"]
                    .drops[std::string(OutcomeName(outcome))] = frames;
            }
        }
        if (rbridge && rbridge->GetNotSent() > 0)
        {
            report.counters[Names::FindName(node) + "/rbridge"].drops["not_sent"] +=
                rbridge->GetNotSent();
        }
    }
}

RBridgeReachability::RBridgeReachability(const Scenario& scenario, const Network& network)
    : m_scenario(scenario), m_network(network)
{
    for (const NodeSettings& node : scenario.nodes)
    {
        size_t port = 0;
        for (const NetworkLink& link : network.GetLinks())
        {
            const auto& nodes = link.settings->nodes;
            const auto own = std::ranges::find(nodes, node.name);
            if (node.host || own == nodes.end())
            {
                continue;
            }
            auto rbridge = network.GetNode(node.name)->GetObject<RBridge>();
            const auto device = link.devices[own - nodes.begin()];
            m_byPort[Mac48Address::ConvertFrom(device->GetAddress())] = rbridge;
            for (const std::string& other : nodes)
            {
                m_servers[other].emplace_back(rbridge, port);
            }
            port++;
        }
    }
}

Ptr<RBridge>
RBridgeReachability::ServerOf(size_t node) const
{
    const NodeSettings& settings = m_scenario.nodes[node];
    if (!settings.host)
    {
        return m_network.GetNode(settings.name)->GetObject<RBridge>();
    }
    const auto servers = m_servers.find(settings.name);
    if (servers == m_servers.end())
    {
        return nullptr;
    }
    const auto serving = std::ranges::find_if(servers->second, [](const auto& server) {
        return server.first->GetTables().ports[server.second].serves_terminals;
    });
    return serving == servers->second.end() ? nullptr : serving->first;
}

bool
RBridgeReachability::Reaches(Ptr<RBridge> from, Ptr<RBridge> to) const
{
    for (size_t hops = 0; hops < m_scenario.nodes.size(); hops++)
    {
        if (from == to)
        {
            return true;
        }
        const auto next = m_byPort.find(from->GetNextHop(to->GetNickname()));
        if (next == m_byPort.end())
        {
            return false;
        }
        from = next->second;
    }
    return false;
}

viaduct::result::Convergence
RBridgeReachability::Check() const
{
    viaduct::result::Convergence result;
    result.seconds = Simulator::Now().GetSeconds();
    const size_t n = m_scenario.nodes.size();
    for (size_t from = 0; from < n; from++)
    {
        Ptr<RBridge> first = ServerOf(from);
        for (size_t to = 0; to < n; to++)
        {
            Ptr<RBridge> last = ServerOf(to);
            if (from != to && (!first || !last || !Reaches(first, last)))
            {
                result.unreachable.emplace_back(m_scenario.nodes[from].name,
                                                m_scenario.nodes[to].name);
            }
        }
    }
    result.pairs = n * (n - 1);
    result.reachable = result.pairs - result.unreachable.size();
    return result;
}

} // namespace ns3::sim
