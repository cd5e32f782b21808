/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "hub-service.h"

#include "ns3/boolean.h"
#include "ns3/icmpv6-l4-protocol.h"
#include "ns3/reactor-simulator-impl.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/udp-guard.h"
#include "ns3/uinteger.h"

#include "base/error.h"

#include <algorithm>

namespace ns3::sim
{

using viaduct::result::ClientResult;
using viaduct::result::HubProgress;
using viaduct::result::HubResult;
using viaduct::tunnel::ClientCounters;

namespace
{

/** The device of a node that is on one link. */
Ptr<NetDevice>
DeviceOf(const Network& network, const std::string& node)
{
    for (const NetworkLink& link : network.GetLinks())
    {
        const auto& nodes = link.settings->nodes;
        const auto own = std::find(nodes.begin(), nodes.end(), node);
        if (own != nodes.end())
        {
            return link.devices[own - nodes.begin()];
        }
    }
    return nullptr;
}

/** The client has the node's addresses, and looks for duplicates itself. */
void
Silence(Ptr<Node> node)
{
    if (auto icmp = node->GetObject<Icmpv6L4Protocol>())
    {
        icmp->SetAttribute("DAD", BooleanValue(false));
    }
}

void
AddCause(std::map<std::string, uint64_t>& drops, const char* cause, uint64_t count)
{
    if (count > 0)
    {
        drops[cause] += count;
    }
}

} // namespace

HubService::HubService(const viaduct::scenario::Scenario& scenario,
                       const Network& network,
                       const HubOptions& options)
    : m_scenario(scenario), m_hub(CreateObject<RemoteHub>())
{
    m_hub->SetAttribute("Address", StringValue(options.address));
    m_hub->SetAttribute("Port", UintegerValue(options.port));
    for (const auto& node : scenario.nodes)
    {
        if (!node.remote)
        {
            UdpGuard::Install(network.GetNode(node.name)); // what strangers may send to protocols
            continue;
        }
        RemoteHub::Access access;
        access.anyone = node.remote->anyone;
        if (node.remote->address)
        {
            access.address = node.remote->address->ToString();
        }
        Silence(network.GetNode(node.name));
        m_byName[node.name] = m_hub->Add(DeviceOf(network, node.name), node.remote->vni, access);
    }
    if (m_byName.empty())
    {
        throw viaduct::UsageError(scenario.file +
                                  ": no node is remote; give one, such as nodes.n1.remote: true");
    }
    m_hub->Start();
}

void
HubService::Obey(const nlohmann::json& command)
{
    const auto node = m_byName.find(command.value("node", ""));
    if (node == m_byName.end())
    {
        return;
    }
    viaduct::tunnel::Hub& hub = m_hub->GetHub();
    if (command.value("command", "") == "claim")
    {
        hub.Claim(node->second,
                  viaduct::wire::IpAddress::Parse(command.value("address", "")),
                  command.value("port", uint16_t{0}));
    }
    else if (command.value("command", "") == "release")
    {
        hub.Release(node->second);
    }
}

HubProgress
HubService::Summarize() const
{
    const viaduct::tunnel::Hub& hub = m_hub->GetHub();
    const viaduct::tunnel::HubCounters all = hub.counters();
    HubProgress progress;
    progress.seconds = Simulator::Now().GetSeconds();
    progress.port = hub.underlay().port();
    progress.nodes = hub.nodes().size();
    progress.lost = all.dropped_malformed + all.dropped_unknown_vni + all.dropped_socket_full;
    for (std::size_t i = 0; i < hub.nodes().size(); i++)
    {
        const ClientCounters& counters = hub.CountersOf(i);
        const uint64_t drops = m_hub->GetTotalDrops(i);
        progress.claimed += hub.ClientOf(i) ? 1 : 0;
        progress.rx_frames += counters.rx_frames - drops;
        progress.tx_frames += counters.tx_frames;
        progress.lost += counters.Lost() + drops;
    }
    return progress;
}

HubResult
HubService::Describe() const
{
    viaduct::tunnel::Hub& hub = m_hub->GetHub();
    HubResult result;
    result.name = m_scenario.name;
    result.seed = m_scenario.seed;
    result.seconds = Simulator::Now().GetSeconds();
    result.port = hub.underlay().port();
    result.receive_buffer = hub.underlay().receive_buffer();
    result.send_buffer = hub.underlay().send_buffer();
    const viaduct::tunnel::HubCounters all = hub.counters();
    result.datagrams = all.datagrams;
    AddCause(result.drops, "malformed", all.dropped_malformed);
    AddCause(result.drops, "unknown_vni", all.dropped_unknown_vni);
    AddCause(result.drops, "socket_full", all.dropped_socket_full);
    uint64_t lost =
        all.dropped_socket_full; // by the hub's doing, not by a client's or the network's
    for (std::size_t i = 0; i < hub.nodes().size(); i++)
    {
        const ClientCounters& counters = hub.CountersOf(i);
        lost += counters.rx_dropped_overload + counters.tx_dropped_refused;
        ClientResult& client = result.clients.emplace_back();
        client.node = hub.nodes()[i].name;
        client.vni = hub.nodes()[i].vni;
        if (const auto peer = hub.ClientOf(i))
        {
            client.client = peer->address().ToString();
        }
        client.rx_frames = counters.rx_frames;
        client.rx_bytes = counters.rx_bytes;
        client.tx_frames = counters.tx_frames;
        client.tx_bytes = counters.tx_bytes;
        client.waiting = hub.WaitingOf(i);
        AddCause(client.drops, "overload", counters.rx_dropped_overload);
        AddCause(client.drops, "spoofed", counters.rx_dropped_spoofed);
        AddCause(client.drops, "malformed", counters.rx_dropped_malformed);
        AddCause(client.drops, "too_long", counters.rx_dropped_too_long);
        AddCause(client.drops, "unclaimed", counters.tx_dropped_unclaimed);
        AddCause(client.drops, "to_client_too_long", counters.tx_dropped_too_long);
        AddCause(client.drops, "to_client_refused", counters.tx_dropped_refused);
        for (int each = 0; each < RemoteHub::N_DROP_REASONS; each++)
        {
            const auto reason = static_cast<RemoteHub::DropReason>(each);
            const uint64_t count = m_hub->GetDrops(i, reason);
            AddCause(client.drops, RemoteHub::GetDropReasonName(reason), count);
            client.rx_frames -= count;
        }
        if (counters.rx_frames > 0)
        {
            client.wait_ms =
                counters.waited.ToSeconds() * 1e3 / static_cast<double>(counters.rx_frames);
        }
        client.longest_wait_ms = counters.longest_wait.ToSeconds() * 1e3;
    }
    const auto reactor = ReactorSimulatorImpl::Get();
    result.events = viaduct::result::Summarize(reactor->GetLateness());
    result.frames = viaduct::result::Summarize(reactor->GetPortLateness());
    result.frames.lost = lost;
    result.verdict =
        viaduct::result::Worse(viaduct::result::Judge(result.events, m_scenario.lateness_limit),
                               viaduct::result::Judge(result.frames, m_scenario.lateness_limit));
    return result;
}

} // namespace ns3::sim
