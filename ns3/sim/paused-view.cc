/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/paused-view.h"

#include "ns3/sim/run-report.h"

#include "ns3/base/ip-family.h"
#include "ns3/kernel/kernel-node.h"
#include "ns3/names.h"
#include "ns3/pointer.h"
#include "ns3/queue-disc.h"
#include "ns3/queue.h"
#include "ns3/routes/on-demand.h"
#include "ns3/routes/route-reader.h"
#include "ns3/simulator.h"
#include "ns3/traffic-control-layer.h"

#include "base/error.h"
#include "base/text/edit_distance.h"

#include <algorithm>

namespace ns3::sim
{

using viaduct::UsageError;
using viaduct::result::PausedInterface;
using viaduct::result::PausedNetwork;
using viaduct::result::PausedNode;
using viaduct::result::PausedState;

namespace
{

/** @return the interface name of a device in its node: the kernel's name, or for ns-3's stack
 * `ethN` as in a lab, N in the order of devices
 */
std::string
InterfaceOf(Ptr<NetDevice> device)
{
    const Ptr<Node> node = device->GetNode();
    if (const auto kernel = node->GetObject<KernelNode>())
    {
        return kernel->GetInterface(device);
    }
    uint32_t number = 0;
    for (uint32_t i = 0; node->GetDevice(i) != device; i++)
    {
        number += DynamicCast<LoopbackNetDevice>(node->GetDevice(i)) ? 0 : 1;
    }
    return "eth" + std::to_string(number);
}

std::vector<std::string>
EndsOf(const NetworkLink& link)
{
    std::vector<std::string> ends;
    for (std::size_t i = 0; i < link.devices.size(); i++)
    {
        ends.push_back(link.settings->nodes[i] + ":" + InterfaceOf(link.devices[i]));
    }
    return ends;
}

/** Adds, to an interface's counters, the packets that wait in the queues of ns-3 between the IP
 * layer and the channel, and the packets that these queues have dropped. */
void
AddQueues(Ptr<NetDevice> device, PausedInterface& interface)
{
    const auto add = [&](uint64_t waiting, uint64_t dropped) {
        interface.waiting = interface.waiting.value_or(0) + waiting;
        interface.dropped = interface.dropped.value_or(0) + dropped;
    };
    PointerValue queue;
    if (device->GetAttributeFailSafe("TxQueue", queue))
    {
        if (const auto base = queue.Get<QueueBase>())
        {
            add(base->GetNPackets(), base->GetTotalDroppedPackets());
        }
    }
    const auto control = device->GetNode()->GetObject<TrafficControlLayer>();
    if (const auto discipline = control ? control->GetRootQueueDiscOnDevice(device) : nullptr)
    {
        add(discipline->GetNPackets(), discipline->GetStats().nTotalDroppedPackets);
    }
}

/** Adds the lines of a node's routes of one IP version, similar to those of `ip route`. */
template <class Family>
void
AddRoutes(Ptr<Node> node, std::vector<std::string>& routes)
{
    const auto ip = node->GetObject<typename Family::Layer>();
    for (const auto& protocol : ipfamily::ProtocolsOf<Family>(ip))
    {
        const std::string of = protocol->GetInstanceTypeId().GetName();
        for (const RouteCandidate& route : MakeRouteReader<Family>(ip, protocol, {})->Read())
        {
            const Ptr<NetDevice> device = ip->GetNetDevice(route.interface);
            if (DynamicCast<LoopbackNetDevice>(device))
            {
                continue;
            }
            const std::string via =
                route.gateway.IsUnspecified() ? "" : " via " + route.gateway.ToString();
            routes.push_back(route.destination.ToString() + via + " dev " + InterfaceOf(device) +
                             " metric " + std::to_string(route.metric) + " of " +
                             of.substr(of.starts_with("ns3::") ? 5 : 0));
        }
    }
}

/** @return whether a node's routing protocols send packets when they are asked for a route */
bool
FindsRoutes(Ptr<Node> node)
{
    return FindsRoutesOnDemand<ipfamily::V4>(node) || FindsRoutesOnDemand<ipfamily::V6>(node);
}

} // namespace

PausedView::PausedView(const viaduct::scenario::Scenario& scenario,
                       const Network& network,
                       const Reachability* reachability,
                       SimulatedTraffic& traffic)
    : m_scenario(scenario), m_network(network), m_reachability(reachability), m_traffic(traffic)
{
}

std::vector<std::string>
PausedView::GetNodes() const
{
    std::vector<std::string> names;
    for (const auto& node : m_scenario.nodes)
    {
        names.push_back(node.name);
    }
    return names;
}

std::vector<viaduct::guest::PausedLink>
PausedView::GetLinks() const
{
    std::vector<viaduct::guest::PausedLink> links;
    for (const NetworkLink& link : m_network.GetLinks())
    {
        std::vector<std::string> interfaces;
        for (const auto& device : link.devices)
        {
            interfaces.push_back(InterfaceOf(device));
        }
        links.push_back({link.settings->name, link.settings->nodes, interfaces});
    }
    return links;
}

nlohmann::json
PausedView::Answer(const nlohmann::json& request)
{
    if (request.contains("link"))
    {
        SetLinkUp(request.at("link"), request.at("up"));
        return nlohmann::json::object();
    }
    return Describe(request.at("to").get<std::string>());
}

PausedState
PausedView::Describe(const std::string& to) const
{
    PausedState state;
    state.simulation = m_scenario.name;
    state.time = Simulator::Now().GetSeconds();
    for (auto node = m_network.GetNodes().Begin(); node != m_network.GetNodes().End(); ++node)
    {
        state.nodes.push_back(Describe(*node));
    }
    const auto statistics = MakeLinkReport(m_network);
    for (const NetworkLink& link : m_network.GetLinks())
    {
        const std::string& name = link.settings->name;
        PausedNetwork network{name, EndsOf(link), m_network.IsLinkUp(name), {}};
        for (const auto& each :
             statistics ? statistics->pipelines : decltype(statistics->pipelines)())
        {
            if (each.pair == name || each.pair.starts_with(name + "."))
            {
                network.statistics.push_back(each);
            }
        }
        state.links.push_back(network);
    }
    if (!to.empty())
    {
        const auto nodes = GetNodes();
        if (std::find(nodes.begin(), nodes.end(), to) == nodes.end())
        {
            throw UsageError("there is no node '" + to + "'" + viaduct::DidYouMean(to, nodes));
        }
        if (!m_reachability)
        {
            throw UsageError("the nodes forward frames on layer 2, and therefore have no routes "
                             "to " +
                             to);
        }
        if (std::any_of(m_network.GetNodes().Begin(), m_network.GetNodes().End(), FindsRoutes))
        {
            throw UsageError("no routes can be shown, because the routing protocol finds routes on "
                             "demand: a query for a route to " +
                             to + " would make the protocol search for a route");
        }
        state.next = m_reachability->NextTo(to);
    }
    return state;
}

PausedNode
PausedView::Describe(Ptr<Node> node) const
{
    PausedNode found;
    found.name = Names::FindName(node);
    const bool isKernel = bool(node->GetObject<KernelNode>());
    found.stack = isKernel ? "kernel" : "ns3";
    for (uint32_t i = 0; i < node->GetNDevices(); i++)
    {
        const PausedInterface interface = Describe(node->GetDevice(i));
        const bool isBare = interface.name == "lo" && interface.addresses.empty();
        if (!isBare && !interface.name.empty())
        {
            found.interfaces.push_back(interface);
        }
    }
    if (!isKernel)
    {
        AddRoutes<ipfamily::V4>(node, found.routes);
        AddRoutes<ipfamily::V6>(node, found.routes);
    }
    return found;
}

PausedInterface
PausedView::Describe(Ptr<NetDevice> device) const
{
    PausedInterface found;
    const bool isLoopback = bool(DynamicCast<LoopbackNetDevice>(device));
    found.name = isLoopback ? "lo" : InterfaceOf(device);
    found.mac =
        isLoopback
            ? ""
            : wireconversion::ToWire(Mac48Address::ConvertFrom(device->GetAddress())).ToString();
    found.mtu = device->GetMtu();
    const auto isUp = [&](auto ip) {
        const int32_t number = ip ? ip->GetInterfaceForDevice(device) : -1;
        return number >= 0 && ip->IsUp(static_cast<uint32_t>(number));
    };
    const Ptr<Node> node = device->GetNode();
    const bool isBridged = !node->GetObject<Ipv4>() && !node->GetObject<Ipv6>();
    found.up = isBridged || isUp(node->GetObject<Ipv4>()) || isUp(node->GetObject<Ipv6>());
    for (const auto& address : ipfamily::AddressesOf(node, device))
    {
        const std::string text = address.ToString();
        if (text != "127.0.0.1/8" && text != "::1/128")
        {
            found.addresses.push_back(text);
        }
    }
    for (const NetworkLink& link : m_network.GetLinks())
    {
        if (std::find(link.devices.begin(), link.devices.end(), device) != link.devices.end())
        {
            found.link = link.settings->name;
        }
    }
    AddQueues(device, found);
    return found;
}

void
PausedView::SetLinkUp(const std::string& name, bool up)
{
    std::vector<std::string> known;
    for (const NetworkLink& link : m_network.GetLinks())
    {
        known.push_back(link.settings->name);
    }
    if (std::find(known.begin(), known.end(), name) == known.end())
    {
        throw UsageError("simulation " + m_scenario.name + " has no link '" + name + "'" +
                         viaduct::DidYouMean(name, known));
    }
    m_traffic.SetLinkUp(name, up);
}

} // namespace ns3::sim
