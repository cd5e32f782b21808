/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/frame-programs.h"

#include "ns3/sim/type-check.h"

#include "ns3/frames/frame-forwarder.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv6-routing-protocol.h"
#include "ns3/names.h"
#include "ns3/simulator.h"

#include "base/error.h"
#include "base/within.h"
#include "scenario/protocols.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace ns3::sim
{

using viaduct::UsageError;
using viaduct::scenario::LinkSettings;
using viaduct::scenario::NodeSettings;
using viaduct::scenario::Scenario;

namespace
{

const NodeSettings&
SettingsOf(const Scenario& scenario, const std::string& name)
{
    return *std::ranges::find(scenario.nodes, name, &NodeSettings::name);
}

/** Adds the devices of a node to its forwarder as ports, in the order of the links. */
void
AddPorts(const Network& network, Ptr<FrameForwarder> forwarder, Ptr<Node> node)
{
    for (const NetworkLink& link : network.GetLinks())
    {
        const auto own = std::ranges::find_if(
            link.devices, [&](const auto& device) { return device->GetNode() == node; });
        if (own != link.devices.end())
        {
            forwarder->AddPort(*own);
        }
    }
}

/** @return the factory of the routing protocol; empty if the scenario has no protocol */
std::optional<ObjectFactory>
ProtocolOf(const viaduct::scenario::Routing& routing)
{
    if (routing.protocol == viaduct::scenario::kNoProtocol)
    {
        return {};
    }
    const ObjectFactory factory =
        CheckedFactory(routing.protocol, {Object::GetTypeId()}, routing.attributes);
    for (const TypeId& parent :
         {Ipv4RoutingProtocol::GetTypeId(), Ipv6RoutingProtocol::GetTypeId()})
    {
        if (factory.GetTypeId().IsChildOf(parent))
        {
            throw UsageError("routing.protocol: " + routing.protocol +
                             " routes IP packets, but the nodes forward frames with a program "
                             "(data_plane.program); remove one of the two keys");
        }
    }
    return factory;
}

/** A union-find structure: disjoint sets of members that can be joined; each set has a member that
 * represents it. */
class Sets
{
  public:
    explicit Sets(size_t size) : m_parents(size)
    {
        std::iota(m_parents.begin(), m_parents.end(), 0);
    }

    size_t Find(size_t member)
    {
        while (m_parents[member] != member)
        {
            member = m_parents[member] = m_parents[m_parents[member]];
        }
        return member;
    }

    void Join(size_t one, size_t other)
    {
        m_parents[Find(one)] = Find(other);
    }

  private:
    std::vector<size_t> m_parents; //!< parent of each member; a representative is its own parent
};

} // namespace

void
InstallFramePrograms(const Scenario& scenario, const Network& network)
{
    // The programs' shared libraries are loaded first, because they may contain the routing
    // protocol.
    for (const NodeSettings& settings : scenario.nodes)
    {
        if (settings.program.empty())
        {
            continue;
        }
        auto forwarder = CreateObject<FrameForwarder>();
        viaduct::Within("node " + settings.name + ", data_plane.program",
                        [&] { forwarder->SetProgram(settings.program); });
        Ptr<Node> node = network.GetNode(settings.name);
        node->AggregateObject(forwarder);
        AddPorts(network, forwarder, node);
    }
    const auto protocol = ProtocolOf(scenario.routing);
    for (const NodeSettings& settings : scenario.nodes)
    {
        if (!protocol || settings.program.empty())
        {
            continue;
        }
        Ptr<Node> node = network.GetNode(settings.name);
        if (node->GetObject<Object>(protocol->GetTypeId()))
        {
            throw UsageError("routing.protocol: " + scenario.routing.protocol +
                             " is not a routing protocol: each node already has an object of this "
                             "type");
        }
        node->AggregateObject(protocol->Create<Object>());
    }
}

void
SetMtusOfPrograms(const Scenario& scenario, const NetworkLink& link)
{
    const LinkSettings& settings = *link.settings;
    size_t overhead = 0;
    size_t programs = 0;
    for (const std::string& name : settings.nodes)
    {
        const NodeSettings& node = SettingsOf(scenario, name);
        if (!node.program.empty())
        {
            programs++;
            viaduct::Within("node " + name + ", data_plane.program", [&] {
                overhead = std::max(overhead, viaduct::forward::LoadProgram(node.program).overhead);
            });
        }
    }
    const bool isBetween = programs > 1 || !settings.interface.empty();
    for (size_t i = 0; i < link.devices.size(); i++)
    {
        const bool host = SettingsOf(scenario, settings.nodes[i]).host;
        link.devices[i]->SetMtu(
            static_cast<uint16_t>(settings.mtu + (isBetween && !host ? overhead : 0)));
    }
}

void
DescribeFramePrograms(const Network& network, viaduct::result::SimulatorReport& report)
{
    for (uint32_t i = 0; i < network.GetNodes().GetN(); i++)
    {
        Ptr<Node> node = network.GetNodes().Get(i);
        const auto forwarder = node->GetObject<FrameForwarder>();
        if (!forwarder)
        {
            continue;
        }
        const auto& losses = forwarder->GetDescription().losses;
        for (const auto& [outcome, frames] : forwarder->GetFrames())
        {
            const bool isNotSent = outcome == "not-sent";
            if (frames > 0 && (isNotSent || std::ranges::count(losses, outcome) > 0))
            {
                report.counters[Names::FindName(node) + "/program"]
                    .drops[isNotSent ? "not_sent" : outcome] += frames;
            }
        }
    }
}

ProgramReachability::ProgramReachability(const Scenario& scenario, const Network& network)
    : m_scenario(scenario), m_network(network)
{
    const auto& links = network.GetLinks();
    for (size_t i = 0; i < links.size(); i++)
    {
        for (const std::string& name : links[i].settings->nodes)
        {
            m_links[name].push_back(i);
        }
    }
}

viaduct::result::Convergence
ProgramReachability::Check() const
{
    const size_t n = m_scenario.nodes.size();
    Sets sets(m_network.GetLinks().size());
    std::vector<bool> isReady(n, true);
    for (size_t i = 0; i < n; i++)
    {
        const NodeSettings& node = m_scenario.nodes[i];
        const auto forwarder = m_network.GetNode(node.name)->GetObject<FrameForwarder>();
        isReady[i] = !forwarder || forwarder->IsReady();
        const auto links = m_links.find(node.name);
        if (!forwarder || !isReady[i] || links == m_links.end())
        {
            continue;
        }
        for (const size_t link : links->second)
        {
            sets.Join(links->second.front(), link);
        }
    }
    // The connected parts of the network to which each node is attached; a host on several links
    // may be attached to several parts.
    std::vector<std::vector<size_t>> parts(n);
    for (size_t i = 0; i < n; i++)
    {
        const auto links = m_links.find(m_scenario.nodes[i].name);
        if (links != m_links.end() && isReady[i])
        {
            std::ranges::transform(links->second, std::back_inserter(parts[i]), [&](size_t link) {
                return sets.Find(link);
            });
            std::ranges::sort(parts[i]);
        }
    }
    viaduct::result::Convergence result;
    result.seconds = Simulator::Now().GetSeconds();
    result.pairs = n * (n - 1);
    for (size_t from = 0; from < n; from++)
    {
        for (size_t to = 0; to < n; to++)
        {
            const bool meets = std::ranges::any_of(parts[from], [&](size_t part) {
                return std::ranges::binary_search(parts[to], part);
            });
            if (from != to && !meets)
            {
                result.unreachable.emplace_back(m_scenario.nodes[from].name,
                                                m_scenario.nodes[to].name);
            }
        }
    }
    result.reachable = result.pairs - result.unreachable.size();
    return result;
}

} // namespace ns3::sim
