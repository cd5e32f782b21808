/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "reachability.h"

#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6-route.h"
#include "ns3/ipv6-routing-protocol.h"
#include "ns3/ipv6.h"
#include "ns3/loopback-net-device.h"
#include "ns3/packet.h"
#include "ns3/wire-conversion.h"

namespace ns3
{
namespace sim
{

using viaduct::wire::Family;
using viaduct::wire::IpAddress;
using wireconversion::ToIpv4;
using wireconversion::ToIpv6;
using wireconversion::ToWire;

Reachability::Reachability(const viaduct::scenario::Scenario& scenario, const Network& network)
    : m_network(network), m_links4(scenario.nodes.size()), m_links6(scenario.nodes.size())
{
    std::map<std::string, uint32_t> numbers;
    for (const auto& node : scenario.nodes)
    {
        numbers[node.name] = static_cast<uint32_t>(m_names.size());
        m_names.push_back(node.name);
        m_destinations.push_back(network.AddressOf(node.name));
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
            // Looked up now: the devices may be replaced later, the interfaces stay.
            const uint32_t node = numbers[names[i]];
            Ptr<Node> object = network.GetNodes().Get(node);
            Ptr<Ipv4> ipv4 = object->GetObject<Ipv4>();
            Ptr<Ipv6> ipv6 = object->GetObject<Ipv6>();
            const int32_t index4 = ipv4->GetInterfaceForDevice(link.devices[i]);
            const int32_t index6 = ipv6 ? ipv6->GetInterfaceForDevice(link.devices[i]) : -1;
            if (index4 >= 0)
            {
                m_links4[node][index4] = l;
            }
            if (index6 >= 0)
            {
                m_links6[node][index6] = l;
            }
        }
    }
}

int32_t
Reachability::NextHop(uint32_t node, const IpAddress& destination) const
{
    Ptr<Node> object = m_network.GetNodes().Get(node);
    Socket::SocketErrno error;
    IpAddress gateway;
    int32_t link = -1;
    auto linkOf = [&](const auto& links, int32_t interface) {
        auto found = interface < 0 ? links.end() : links.find(interface);
        return found == links.end() ? -1 : static_cast<int32_t>(found->second);
    };
    // With a packet: DSDV answers nothing useful without. It is never sent.
    if (destination.family == Family::kIpv4)
    {
        Ptr<Ipv4> ip = object->GetObject<Ipv4>();
        Ipv4Header header;
        header.SetDestination(ToIpv4(destination));
        Ptr<Ipv4Route> route =
            ip->GetRoutingProtocol()->RouteOutput(Create<Packet>(), header, nullptr, error);
        if (!route || DynamicCast<LoopbackNetDevice>(route->GetOutputDevice()))
        {
            return -1;
        }
        gateway = ToWire(route->GetGateway());
        link = linkOf(m_links4[node], ip->GetInterfaceForDevice(route->GetOutputDevice()));
    }
    else
    {
        Ptr<Ipv6> ip = object->GetObject<Ipv6>();
        Ipv6Header header;
        header.SetDestination(ToIpv6(destination));
        Ptr<Ipv6Route> route =
            ip ? ip->GetRoutingProtocol()->RouteOutput(Create<Packet>(), header, nullptr, error)
               : nullptr;
        if (!route || DynamicCast<LoopbackNetDevice>(route->GetOutputDevice()))
        {
            return -1;
        }
        gateway = ToWire(route->GetGateway());
        link = linkOf(m_links6[node], ip->GetInterfaceForDevice(route->GetOutputDevice()));
    }
    return link < 0 ? -1 : NeighbourOn(link, gateway.IsUnspecified() ? destination : gateway);
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
    // A link-local next hop (RIPng): the neighbour whose interface has it.
    const NetworkLink& object = m_network.GetLinks()[link];
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
Reachability::IsTentative(uint32_t node) const
{
    Ptr<Ipv6> ip = m_network.GetNodes().Get(node)->GetObject<Ipv6>();
    for (uint32_t i = 1; ip && i < ip->GetNInterfaces(); i++) // 0 is loopback
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

Reachability::Result
Reachability::Look()
{
    Result result;
    const auto n = static_cast<uint32_t>(m_names.size());
    for (uint32_t to = 0; to < n; to++)
    {
        // Every node is asked once a destination; then the answers are walked.
        std::vector<int32_t> next(n);
        for (uint32_t node = 0; node < n; node++)
        {
            // An address under duplicate address detection answers nobody.
            const bool asleep = m_destinations[to].family == Family::kIpv6 &&
                                (IsTentative(node) || IsTentative(to));
            next[node] = node == to ? static_cast<int32_t>(to)
                         : asleep   ? -1
                                    : NextHop(node, m_destinations[to]);
        }
        for (uint32_t from = 0; from < n; from++)
        {
            if (from == to)
            {
                continue;
            }
            int32_t at = static_cast<int32_t>(from);
            for (uint32_t hops = 0; hops < n && at >= 0 && at != static_cast<int32_t>(to); hops++)
            {
                at = next[at];
            }
            result.pairs++;
            if (at == static_cast<int32_t>(to))
            {
                result.reachable++;
            }
            else
            {
                result.unreachable.push_back({m_names[from], m_names[to]});
            }
        }
    }
    return result;
}

} // namespace sim
} // namespace ns3
