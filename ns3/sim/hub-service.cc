/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/hub-service.h"

#include "ns3/sim/run-report.h"

#include "ns3/integer.h"
#include "ns3/reactor/reactor-simulator-impl.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include "base/error.h"
#include "remote/tunnel/describe.h"
#include "scenario/places.h"

#include <algorithm>

namespace ns3::sim
{

using viaduct::result::HubProgress;
using viaduct::result::HubResult;

namespace
{

/** @return the device of a node on the node's first link; null: the node is on no link */
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

/** @return the numbers of packets lost between a remote node's IP layer and its client, by cause */
std::map<std::string, uint64_t>
DropsOfPrograms(const RemoteHub& hub, std::size_t index)
{
    std::map<std::string, uint64_t> drops;
    const Ptr<ProgramPort> programs = hub.GetPrograms(index);
    if (!programs)
    {
        return drops;
    }
    for (int each = 0; each < ProgramPort::N_DROP_REASONS; each++)
    {
        const auto reason = static_cast<ProgramPort::DropReason>(each);
        viaduct::tunnel::AddCause(
            drops, ProgramPort::GetDropReasonName(reason), programs->GetDrops(reason));
    }
    viaduct::tunnel::AddCause(drops, "unresolved", hub.GetUnresolved(index));
    return drops;
}

} // namespace

HubService::HubService(const viaduct::scenario::Scenario& scenario,
                       const Network& network,
                       const HubOptions& options)
    : m_scenario(scenario), m_hub(CreateObject<RemoteHub>())
{
    m_hub->SetAttribute("Address", StringValue(options.address));
    m_hub->SetAttribute("Port", UintegerValue(options.port));
    if (scenario.hub_readers)
    {
        m_hub->SetAttribute("Readers", IntegerValue(*scenario.hub_readers));
    }
    if (scenario.hub_queue)
    {
        m_hub->SetAttribute("QueueSize", UintegerValue(*scenario.hub_queue));
    }
    for (const auto& node : scenario.nodes)
    {
        // A far end is a remote host whose packets ns-3 does not handle: the frames of the host's
        // client enter the host's link directly. A host on Wi-Fi is not a far end, because a radio
        // sends only the frames of its own station.
        const bool isFarEnd =
            node.remote && node.host && !viaduct::scenario::IsOnWifi(scenario, node.name);
        // The guard drops packets that ns-3 cannot read, which unknown machines may send.
        if (Ptr<TransportGuard> guard =
                isFarEnd ? nullptr : TransportGuard::Install(network.GetNode(node.name)))
        {
            m_guards[node.name] = guard;
        }
        if (!node.remote)
        {
            continue;
        }
        RemoteHub::Access access;
        access.anyone = node.remote->anyone;
        if (node.remote->address)
        {
            access.address = node.remote->address->ToString();
        }
        m_byName[node.name] =
            isFarEnd ? m_hub->Add(DeviceOf(network, node.name), node.remote->vni, access)
                     : m_hub->AddPrograms(network.GetNode(node.name), node.remote->vni, access);
    }
    if (m_byName.empty())
    {
        throw viaduct::UsageError(scenario.file +
                                  ": no node is remote; make a node remote, for example with "
                                  "nodes.n1.remote: true");
    }
    m_hub->Start(options.innerSocket);
}

void
HubService::Obey(const viaduct::scenario::SimulatorCommand& command)
{
    viaduct::tunnel::ClientHub& hub = m_hub->GetHub();
    if (const auto* claim = std::get_if<viaduct::scenario::Claim>(&command))
    {
        hub.Claim(
            IndexOf(claim->node), viaduct::wire::IpAddress::Parse(claim->address), claim->port);
    }
    else if (const auto* release = std::get_if<viaduct::scenario::Release>(&command))
    {
        hub.Release(IndexOf(release->node));
    }
}

std::size_t
HubService::IndexOf(const std::string& node) const
{
    const auto found = m_byName.find(node);
    if (found == m_byName.end())
    {
        throw viaduct::UsageError("node " + node + " is not remote");
    }
    return found->second;
}

HubProgress
HubService::Summarize() const
{
    viaduct::tunnel::ClientHub& hub = m_hub->GetHub();
    hub.CountOutside();
    HubProgress progress = viaduct::tunnel::Summarize(hub);
    progress.seconds = Simulator::Now().GetSeconds();
    for (std::size_t i = 0; i < hub.nodes().size(); i++)
    {
        const uint64_t drops = m_hub->GetTotalDrops(i);
        progress.rx_frames -= drops;
        progress.lost += drops;
        for (const auto& [cause, count] : DropsOfPrograms(*m_hub, i))
        {
            progress.lost += count;
        }
    }
    return progress;
}

HubResult
HubService::Describe(std::size_t from, std::size_t count) const
{
    viaduct::tunnel::ClientHub& hub = m_hub->GetHub();
    hub.CountOutside();
    HubResult result;
    result.name = m_scenario.name;
    result.seed = m_scenario.seed;
    result.seconds = Simulator::Now().GetSeconds();
    viaduct::tunnel::Describe(hub, &result, from, count);
    for (std::size_t i = 0; i < result.clients.size(); i++)
    {
        for (int each = 0; each < RemoteHub::N_DROP_REASONS; each++)
        {
            const auto reason = static_cast<RemoteHub::DropReason>(each);
            const uint64_t drops = m_hub->GetDrops(from + i, reason);
            viaduct::tunnel::AddCause(
                result.clients[i].drops, RemoteHub::GetDropReasonName(reason), drops);
            result.clients[i].rx_frames -= drops;
        }
        result.clients[i].rx_bytes -= m_hub->GetDroppedBytes(from + i);
        result.clients[i].drops.merge(DropsOfPrograms(*m_hub, from + i));
    }
    const auto reactor = ReactorSimulatorImpl::Get();
    result.events = viaduct::result::Summarize(reactor->GetLateness());
    result.frames = viaduct::result::Summarize(reactor->GetPortLateness());
    result.loop = LoopTimes(*reactor);
    result.frames.lost = viaduct::tunnel::OwnLosses(hub);
    for (const auto& [name, guard] : m_guards)
    {
        viaduct::tunnel::AddCause(result.unreadable, name.c_str(), guard->GetDrops());
    }
    result.Judge(Summarize().rx_frames, m_scenario.lateness_limit);
    return result;
}

} // namespace ns3::sim
