/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/reachability.h"

#include "ns3/sim/placement.h"
#include "ns3/sim/wireless.h"

#include "ns3/icmpv6-l4-protocol.h"
#include "ns3/packet.h"
#include "ns3/routes/on-demand.h"
#include "ns3/routes/protocol-traits.h"
#include "ns3/simulator.h"

#include "scenario/addresses.h"
#include "scenario/protocols.h"

#include <algorithm>

namespace ns3::sim
{

using viaduct::wire::Family;
using viaduct::wire::IpAddress;
using wireconversion::ToWire;

Reachability::Reachability(const viaduct::scenario::Scenario& scenario, const Network& network)
    : m_network(network),
      m_awaited(scenario),
      m_links4(scenario.nodes.size()),
      m_links6(scenario.nodes.size())
{
    const auto* protocol = viaduct::scenario::FindRoutingProtocol(scenario.routing.protocol);
    m_sensing = protocol && protocol->senses_neighbours;
    std::map<std::string, uint32_t> numbers;
    for (const auto& node : scenario.nodes)
    {
        numbers[node.name] = static_cast<uint32_t>(m_names.size());
        m_names.push_back(node.name);
        m_here.push_back(network.IsLocal(node.name));
        m_hosts.push_back(node.host);
        m_destinations.push_back(viaduct::scenario::AddressOf(scenario, node.name));
    }
    for (uint32_t l = 0; l < network.GetLinks().size(); l++)
    {
        const NetworkLink& link = network.GetLinks()[l];
        const auto& names = link.settings->nodes;
        for (size_t i = 0; i < link.settings->addresses.size(); i++)
        {
            const uint32_t node = numbers[names[i % names.size()]];
            m_owners[link.settings->addresses[i].address].push_back({node, l});
        }
        for (size_t i = 0; i < names.size(); i++)
        {
            // The links of the IP interfaces are recorded now, because devices may be replaced
            // later, whereas interfaces keep their numbers.
            const uint32_t node = numbers[names[i]];
            Ptr<Node> object = network.GetNodes().Get(node);
            const auto enter = [&](auto ip, auto& links) {
                const int32_t index = ip ? ip->GetInterfaceForDevice(link.devices[i]) : -1;
                if (index >= 0)
                {
                    links[node][index] = l;
                }
            };
            enter(object->GetObject<Ipv4>(), m_links4);
            enter(object->GetObject<Ipv6>(), m_links6);
        }
    }
    for (uint32_t node = 0; node < m_names.size(); node++)
    {
        MakeTables<ipfamily::V4>(node);
        MakeTables<ipfamily::V6>(node);
    }
    for (const auto& flow : scenario.flows)
    {
        if (flow.group.empty() && m_awaited.IsAwaited(numbers.at(flow.from), numbers.at(flow.to)))
        {
            m_flows.emplace(numbers.at(flow.from), numbers.at(flow.to));
            m_flows.emplace(numbers.at(flow.to), numbers.at(flow.from));
        }
    }
}

template <class Family>
void
Reachability::MakeTables(uint32_t node)
{
    const auto ip = m_network.GetNodes().Get(node)->GetObject<typename Family::Layer>();
    for (const auto& protocol : ipfamily::ProtocolsOf<Family>(ip))
    {
        if (TraitsOf(protocol).finding != RouteFinding::UNKNOWN)
        {
            continue;
        }
        auto pushed = std::make_shared<PushedRoutes<Family>>(protocol);
        std::shared_ptr<RouteReader> reader = pushed;
        if (!pushed->Watch([] {}))
        {
            reader = MakeRouteReader<Family>(ip, protocol, {});
        }
        m_tables[protocol].reader = reader;
    }
}

bool
Reachability::HasUnknown() const
{
    return !m_tables.empty();
}

void
Reachability::ReadTables() const
{
    if (m_read == Simulator::Now())
    {
        return;
    }
    m_read = Simulator::Now();
    for (auto& [protocol, table] : m_tables)
    {
        table.routes.clear();
        for (const RouteCandidate& route : table.reader->Read())
        {
            const auto [known, isNew] = table.routes.emplace(route.destination, route);
            if (!isNew && route.metric < known->second.metric)
            {
                known->second = route;
            }
        }
        table.isComplete = table.reader->WhyIncomplete().empty();
    }
}

const RouteCandidate*
Reachability::Table::Find(const IpAddress& destination) const
{
    for (int length = destination.Length() * 8; length >= 0; length--)
    {
        const auto route = routes.find(viaduct::wire::IpPrefix{destination, length}.Network());
        if (route != routes.end())
        {
            return &route->second;
        }
    }
    return nullptr;
}

template <class Family>
std::optional<Reachability::Said>
Reachability::HopOf(uint32_t node, const IpAddress& destination) const
{
    // The request for a route contains a packet, because DSDV requires one; the packet is never
    // sent.
    const auto ip = m_network.GetNodes().Get(node)->GetObject<typename Family::Layer>();
    if (!ip)
    {
        return Said{};
    }
    if (m_tables.empty())
    {
        return Said{
            ipfamily::Ask<Family>(ip, ip->GetRoutingProtocol(), destination, Create<Packet>())};
    }
    // The first protocol that has a route decides, as in ns-3's list routing.
    Said said;
    for (const auto& protocol : ipfamily::ProtocolsOf<Family>(ip))
    {
        const auto table = m_tables.find(protocol);
        if (table == m_tables.end())
        {
            said.hop = ipfamily::Ask<Family>(ip, protocol, destination, Create<Packet>());
            if (said.hop.interface >= 0)
            {
                return said;
            }
            continue;
        }
        if (!table->second.isComplete)
        {
            return std::nullopt;
        }
        if (const RouteCandidate* route = table->second.Find(destination))
        {
            const bool isNeighbour = route->gateway == destination;
            said.hop = {isNeighbour ? IpAddress{destination.family, {}} : route->gateway,
                        static_cast<int32_t>(route->interface)};
            return said;
        }
        said.isByPacket = true;
    }
    return said;
}

std::optional<Reachability::Said>
Reachability::WhatProtocolsSay(uint32_t node, const IpAddress& destination) const
{
    ReadTables();
    return destination.family == Family::kIpv4 ? HopOf<ipfamily::V4>(node, destination)
                                               : HopOf<ipfamily::V6>(node, destination);
}

int32_t
Reachability::NextHop(uint32_t node, const IpAddress& destination) const
{
    const auto found = WhatProtocolsSay(node, destination);
    if (!found)
    {
        m_undecided = true;
        return UNDECIDED;
    }
    return NeighbourOf(node, found->hop, destination);
}

int32_t
Reachability::NeighbourOf(uint32_t node,
                          const ipfamily::NextHop& hop,
                          const IpAddress& destination) const
{
    const bool ipv4 = destination.family == Family::kIpv4;
    const auto& links = ipv4 ? m_links4[node] : m_links6[node];
    const auto link = hop.interface < 0 ? links.end() : links.find(hop.interface);
    if (link == links.end())
    {
        return -1;
    }
    const bool direct = hop.gateway.IsUnspecified();
    const int32_t neighbour = NeighbourOn(link->second, direct ? destination : hop.gateway);
    return neighbour < 0 || (direct && IsOutOfTouch(node, neighbour, link->second)) ? -1
                                                                                    : neighbour;
}

bool
Reachability::IsOutOfTouch(uint32_t node, uint32_t neighbour, uint32_t number) const
{
    const NetworkLink& link = m_network.GetLinks()[number];
    if (!viaduct::scenario::IsWifi(*link.settings))
    {
        return false;
    }
    const auto& wifi = link.settings->wifi;
    if (wifi.access_point.empty())
    {
        const NodeContainer& nodes = m_network.GetNodes();
        const bool unheard =
            wifi.range && DistanceBetween(nodes.Get(node), nodes.Get(neighbour)) > *wifi.range;
        return unheard || (m_sensing && !m_hosts[node] && !m_hosts[neighbour]);
    }
    return std::any_of(link.devices.begin(), link.devices.end(), [&](const auto& device) {
        const uint32_t of = device->GetNode()->GetId();
        return (of == node || of == neighbour) && IsUnassociated(device);
    });
}

int32_t
Reachability::NeighbourOn(uint32_t link, const IpAddress& hop) const
{
    auto owners = m_owners.find(hop);
    if (owners != m_owners.end())
    {
        for (const auto& [node, on] : owners->second)
        {
            if (on == link)
            {
                return static_cast<int32_t>(node);
            }
        }
        return -1;
    }
    // The next hop may be a link-local address (RIPng). In this case the neighbour is the node
    // whose interface on the link has the address.
    const NetworkLink& object = m_network.GetLinks()[link];
    for (size_t i = 0; hop.family == Family::kIpv6 && i < object.devices.size(); i++)
    {
        // A device of a node on another machine has no IP layer here; its link-local address
        // follows from its MAC address.
        Ptr<NetDevice> device = object.devices[i];
        const auto node = static_cast<int32_t>(device->GetNode()->GetId());
        if (!m_here[node] &&
            ToWire(Ipv6Address::MakeAutoconfiguredLinkLocalAddress(device->GetAddress())) == hop)
        {
            return node;
        }
    }
    for (uint32_t node = 0; hop.family == Family::kIpv6 && node < m_names.size(); node++)
    {
        for (const auto& [interface, on] : m_links6[node])
        {
            Ptr<Ipv6> ip = m_network.GetNodes().Get(node)->GetObject<Ipv6>();
            if (on == link && object.channel &&
                ToWire(ip->GetAddress(interface, 0).GetAddress()) == hop)
            {
                return static_cast<int32_t>(node);
            }
        }
    }
    return -1;
}

bool
FindRoutesOnDemand(const Network& network)
{
    const NodeContainer& nodes = network.GetNodes();
    return std::any_of(nodes.Begin(), nodes.End(), [](Ptr<Node> node) {
        return FindsRoutesOnDemand<ipfamily::V4>(node) || FindsRoutesOnDemand<ipfamily::V6>(node);
    });
}

bool
Reachability::IsSomeTentative() const
{
    for (uint32_t node = 0; node < m_names.size(); node++)
    {
        if (m_here[node] && IsTentative(node))
        {
            return true;
        }
    }
    return false;
}

bool
Reachability::IsTentative(uint32_t node) const
{
    Ptr<Ipv6> ip = m_network.GetNodes().Get(node)->GetObject<Ipv6>();
    const auto icmp = m_network.GetNodes().Get(node)->GetObject<Icmpv6L4Protocol>();
    const bool detects = icmp && icmp->IsAlwaysDad();
    for (uint32_t i = 1; detects && i < ip->GetNInterfaces(); i++) // interface 0 is loopback
    {
        for (uint32_t j = 0; j < ip->GetNAddresses(i); j++)
        {
            const auto state = ip->GetAddress(i, j).GetState();
            if (state == Ipv6InterfaceAddress::TENTATIVE ||
                state == Ipv6InterfaceAddress::TENTATIVE_OPTIMISTIC)
            {
                return true;
            }
        }
    }
    return false;
}

std::vector<int32_t>
Reachability::NextHops(uint32_t to) const
{
    const auto n = static_cast<uint32_t>(m_names.size());
    std::vector<int32_t> next(n);
    for (uint32_t node = 0; node < n; node++)
    {
        // A node answers no packets to an address under duplicate address detection. A node with
        // such an IPv6 address counts as unreachable even if flows use IPv4, because programs may
        // use IPv6.
        const bool asleep = IsTentative(node) || IsTentative(to);
        next[node] = node == to || !m_here[node] ? static_cast<int32_t>(node)
                     : asleep                    ? -1
                                                 : NextHop(node, m_destinations[to]);
    }
    return next;
}

int32_t
Reachability::Follow(const std::vector<int32_t>& next, int32_t from, int32_t to) const
{
    int32_t at = from;
    for (size_t hops = 0; hops < next.size() && at >= 0 && at != to && m_here[at]; hops++)
    {
        at = next[at];
    }
    const bool arrived = at >= 0 && (at == to || !m_here[at]);
    return arrived ? at : -1;
}

viaduct::result::Convergence
Reachability::Check() const
{
    viaduct::result::Convergence result;
    result.seconds = Simulator::Now().GetSeconds();
    m_undecided = false;
    const auto n = static_cast<int32_t>(m_names.size());
    for (int32_t to = 0; to < n; to++)
    {
        // Every node is asked for its next hop to the destination once; then the next hops are
        // followed from each node.
        const std::vector<int32_t> next = NextHops(to);
        for (int32_t from = 0; from < n; from++)
        {
            if (!m_here[from] || !m_awaited.IsAwaited(from, to))
            {
                continue;
            }
            result.pairs++;
            if (Follow(next, from, to) < 0)
            {
                result.unreachable.emplace_back(m_names[from], m_names[to]);
            }
        }
    }
    result.reachable = result.pairs - result.unreachable.size();
    return result;
}

Reachability::FlowRoutes
Reachability::AskForFlows() const
{
    FlowRoutes routes = FlowRoutes::FOUND;
    for (const auto& [from, to] : m_flows)
    {
        const FlowRoutes its = m_here[from] ? AskFor(from, to) : FlowRoutes::FOUND;
        if (its == FlowRoutes::ON_DEMAND)
        {
            return its;
        }
        routes = its == FlowRoutes::WAITING ? its : routes;
    }
    return routes;
}

Reachability::FlowRoutes
Reachability::AskFor(uint32_t from, uint32_t to) const
{
    const IpAddress& destination = m_destinations[to];
    const bool isIpv4 = destination.family == Family::kIpv4;
    auto at = static_cast<int32_t>(from);
    for (size_t hops = 0; hops <= m_names.size(); hops++)
    {
        if (at == static_cast<int32_t>(to) || !m_here[at])
        {
            return FlowRoutes::FOUND;
        }
        const int32_t next = NextHop(at, destination);
        const auto answer =
            isIpv4 ? AskAt<ipfamily::V4>(at, destination) : AskAt<ipfamily::V6>(at, destination);
        if (answer && answer->IsOnDemand())
        {
            return FlowRoutes::ON_DEMAND;
        }
        const int32_t answered = answer ? NeighbourOf(at, answer->hop, destination) : next;
        if (answer && answered != next && next != UNDECIDED)
        {
            Distrust(at);
        }
        if (answered < 0)
        {
            return FlowRoutes::WAITING;
        }
        at = answered;
    }
    return FlowRoutes::WAITING; // the routes form a loop
}

template <class Family>
std::optional<ProtocolAnswer>
Reachability::AskAt(uint32_t node, const IpAddress& destination) const
{
    const Ptr<Node> object = m_network.GetNodes().Get(node);
    const auto ip = object->GetObject<typename Family::Layer>();
    if (!ip || !MayFindRoutesOnDemand<Family>(object))
    {
        return std::nullopt;
    }
    return AskWithPacket<Family>(ip, ip->GetRoutingProtocol(), destination);
}

void
Reachability::Distrust(uint32_t node) const
{
    const Ptr<Node> object = m_network.GetNodes().Get(node);
    for (auto& [protocol, table] : m_tables)
    {
        if (protocol->GetObject<Node>() == object)
        {
            table.reader->Distrust(
                "RouteOutput() returns routes that differ from the protocol's table");
            table.isComplete = false;
        }
    }
}

viaduct::result::RouteSample
Reachability::Sample() const
{
    viaduct::result::RouteSample sample;
    for (const std::string& to : m_names)
    {
        for (auto& [node, next] : NextTo(to))
        {
            sample.next[node][to] = std::move(next);
        }
    }
    return sample;
}

std::map<std::string, std::string>
Reachability::NextTo(const std::string& to) const
{
    std::map<std::string, std::string> named;
    const auto number = std::find(m_names.begin(), m_names.end(), to) - m_names.begin();
    const std::vector<int32_t> next = NextHops(static_cast<uint32_t>(number));
    for (std::size_t node = 0; node < m_names.size(); node++)
    {
        if (m_names[node] != to)
        {
            named[m_names[node]] = next[node] < 0 ? std::string() : m_names[next[node]];
        }
    }
    return named;
}

Reachability::Passages
Reachability::LookAtPassages(bool all) const
{
    std::vector<bool> entries(m_names.size());
    for (const NetworkLink& link : m_network.GetLinks())
    {
        const auto away = std::any_of(link.devices.begin(), link.devices.end(), [&](const auto& d) {
            return !m_here[d->GetNode()->GetId()];
        });
        for (const Ptr<NetDevice>& device : link.devices)
        {
            const uint32_t node = device->GetNode()->GetId();
            entries[node] = entries[node] || ((away || all) && m_here[node]);
        }
    }
    Passages passages;
    const auto n = static_cast<int32_t>(m_names.size());
    for (int32_t to = 0; to < n; to++)
    {
        const std::vector<int32_t> next = NextHops(to);
        for (int32_t entry = 0; entry < n; entry++)
        {
            if (entries[entry])
            {
                passages[m_names[entry]].push_back(Follow(next, entry, to));
            }
        }
    }
    return passages;
}

} // namespace ns3::sim
