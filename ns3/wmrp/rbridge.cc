/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/wmrp/rbridge.h"

#include "ns3/wmrp/rbridge-frame.h"
#include "ns3/wmrp/rbridge-time.h"

#include "ns3/abort.h"
#include "ns3/base/wire-conversion.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <set>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RBridge");

NS_OBJECT_ENSURE_REGISTERED(RBridge);

using viaduct::rbridge::Hello;
using viaduct::rbridge::LinkStates;
using viaduct::rbridge::Lsp;
using viaduct::rbridge::LspContent;
using viaduct::rbridge::Outcome;
using viaduct::rbridge::PduType;
using viaduct::rbridge::SequenceNumbers;
using viaduct::rbridge::Tables;
using viaduct::rbridge::Terminals;
using viaduct::wire::MacAddress;
using wireconversion::ToMac48;
using wireconversion::ToWire;

namespace
{

/** Delay of a computation after a change, so that several changes need one computation. */
const Time COMPUTE_DELAY = MilliSeconds(10);
/** Interval between two updates of the LSPs' lifetimes, which are whole seconds. */
const Time AGE_INTERVAL = Seconds(1);

/** @return the duration in the type of the library viaduct::rbridge */
viaduct::Duration
ToDuration(const Time& time)
{
    return viaduct::Duration::Nanoseconds(time.GetNanoSeconds());
}

} // namespace

RBridge::RBridge()
    : m_tables(std::make_unique<Tables>()),
      m_random(CreateObject<UniformRandomVariable>()),
      m_decision(std::make_unique<viaduct::rbridge::Decision>())
{
    m_tables->Clear();
}

RBridge::~RBridge() = default;

// ---------------------------------------------------------------- ports

void
RBridge::AddPort(Ptr<NetDevice> device, bool terminals)
{
    NS_LOG_FUNCTION(this << device << terminals);
    NS_ABORT_MSG_IF(device->IsPointToPoint(),
                    "RBridge: " << device->GetInstanceTypeId().GetName()
                                << " carries PPP, not Ethernet frames; use CsmaNetDevice or "
                                   "PathNetDevice");
    NS_ABORT_MSG_IF(m_ports.size() == viaduct::rbridge::kMaxPorts,
                    "RBridge: more than " << viaduct::rbridge::kMaxPorts
                                          << " ports are not supported");
    NS_ABORT_MSG_IF(m_database, "RBridge: ports must be added before the RBridge starts");
    const auto index = static_cast<viaduct::rbridge::PortIndex>(m_ports.size());
    m_node = device->GetNode();
    m_ports.push_back(std::make_unique<RBridgePort>(static_cast<RBridgePort::User&>(*this),
                                                    m_common,
                                                    *m_tables,
                                                    index,
                                                    terminals && device->SupportsSendFrom()));
    m_ports.back()->SetDevice(device);
    m_byDevice[device] = m_ports.back().get();
    Listen(device);
}

void
RBridge::Listen(Ptr<NetDevice> device)
{
    constexpr uint16_t ALL_PROTOCOLS = 0;
    constexpr bool PROMISCUOUS = true;
    m_node->RegisterProtocolHandler(
        MakeCallback(&RBridge::Receive, this), ALL_PROTOCOLS, device, PROMISCUOUS);
    device->AddLinkChangeCallback(MakeCallback(&RBridgePort::LinkChanged, FindPort(device)));
}

void
RBridge::ReplaceDevice(Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice)
{
    const auto found = m_byDevice.find(oldDevice);
    if (found == m_byDevice.end())
    {
        return;
    }
    RBridgePort* const port = found->second;
    m_byDevice.erase(found);
    m_byDevice[newDevice] = port;
    port->SetDevice(newDevice);
    newDevice->AddLinkChangeCallback(MakeCallback(&RBridgePort::LinkChanged, port));
}

RBridgePort*
RBridge::FindPort(Ptr<NetDevice> device) const
{
    const auto found = m_byDevice.find(device);
    return found == m_byDevice.end() ? nullptr : found->second;
}

bool
RBridge::IsServing(Ptr<NetDevice> device) const
{
    const RBridgePort* port = FindPort(device);
    return port && m_tables->ports[port->GetIndex()].serves_terminals;
}

// ---------------------------------------------------------------- start and stop

void
RBridge::DoInitialize()
{
    Start();
    Object::DoInitialize();
}

void
RBridge::Start()
{
    NS_LOG_FUNCTION(this);
    if (m_database || m_ports.empty())
    {
        return;
    }
    const MacAddress first = m_tables->ports.front().mac;
    m_common = {.system = {first.bytes},
                .helloInterval = m_helloInterval,
                .holdMultiplier = m_holdMultiplier,
                .inhibition = m_inhibition,
                .priority = m_priority,
                .jitter = m_random};
    const viaduct::rbridge::Database::Ages ages{.lifetime = ToDuration(m_lspLifetime),
                                                .refresh = ToDuration(m_lspRefresh)};
    m_database = std::make_unique<viaduct::rbridge::Database>(m_common.system, ages);
    m_routes = std::make_unique<viaduct::rbridge::Routes>(m_common.system);
    m_terminals = std::make_unique<Terminals>(*m_tables);
    m_flooding = std::make_unique<RBridgeFlooding>(m_common.system, *m_database, m_random);
    m_tables->hop_count = m_hopCount;
    ChooseNickname({});
    for (const auto& port : m_ports)
    {
        m_flooding->AddPort(*port);
        port->Start();
    }
    Originate();
    m_summaries = Simulator::Schedule(m_csnpInterval, &RBridge::SendSummaries, this);
    m_age = Simulator::Schedule(AGE_INTERVAL, &RBridge::AgeLinkStates, this);
    AgeTerminals();
}

void
RBridge::Stop()
{
    NS_LOG_FUNCTION(this);
    if (!m_database)
    {
        return;
    }
    for (const auto& port : m_ports)
    {
        port->Stop();
    }
    for (EventId* event : {&m_originate, &m_compute, &m_summaries, &m_age, &m_ageTerminals})
    {
        event->Cancel();
    }
    m_flooding.reset();
    m_terminals.reset();
    m_routes.reset();
    m_database.reset();
    m_tables->Clear();
    for (const auto& port : m_ports)
    {
        port->SetDevice(port->GetDevice());
    }
    Publish();
    m_nickname = 0;
}

void
RBridge::DoDispose()
{
    Stop();
    m_plane.reset();
    m_publish.Cancel();
    m_byDevice.clear();
    m_ports.clear();
    m_node = nullptr;
    Object::DoDispose();
}

int64_t
RBridge::AssignStreams(int64_t stream)
{
    m_random->SetStream(stream);
    return 1;
}

// ---------------------------------------------------------------- data plane

void
RBridge::Receive(Ptr<NetDevice> device,
                 Ptr<const Packet> packet,
                 uint16_t protocol,
                 const Address& from,
                 const Address& to,
                 NetDevice::PacketType /* type */)
{
    RBridgePort* const port = FindPort(device);
    if (!port || !m_database)
    {
        return;
    }
    const Mac48Address source = Mac48Address::ConvertFrom(from);
    const RBridgeFrame frame(packet, protocol, source, Mac48Address::ConvertFrom(to));
    viaduct::rbridge::Decision& decision = *m_decision;
    viaduct::rbridge::Forward(*m_tables, port->GetIndex(), frame.GetBytes(), decision);
    if (m_plane && decision.outcome != Outcome::kControl)
    {
        return; // the data plane handles the frame
    }
    m_outcomes[static_cast<size_t>(decision.outcome)]++;
    if (!m_frameTrace.IsEmpty())
    {
        m_frameTrace(packet, device, std::string(OutcomeName(decision.outcome)));
    }
    if (decision.outcome == Outcome::kControl)
    {
        ReceivePdu(*port, packet, ToWire(source));
        return;
    }
    if (decision.seen)
    {
        Learn(*decision.seen);
    }
    for (const auto& output : decision.sends())
    {
        if (!frame.Send(output, m_ports[output.port]->GetDevice()))
        {
            m_notSent++;
        }
    }
}

// ---------------------------------------------------------------- control plane

void
RBridge::ReceivePdu(RBridgePort& port, Ptr<const Packet> packet, const MacAddress& from)
{
    std::vector<std::byte> bytes(packet->GetSize());
    packet->CopyData(reinterpret_cast<uint8_t*>(bytes.data()), bytes.size());
    const auto type = viaduct::rbridge::TypeOf(bytes);
    if (type == PduType::kHello)
    {
        if (const auto hello = Hello::Parse(bytes))
        {
            port.Receive(*hello, from);
        }
        return;
    }
    // PDUs other than Hellos are ignored unless the sender is an adjacency, which hears this port
    // (RFC 7177 section 3.1).
    if (!type || m_tables->FindAdjacency(port.GetIndex(), from) == viaduct::rbridge::kNone)
    {
        return;
    }
    if (type == PduType::kLsp)
    {
        const auto lsp = Lsp::Parse(bytes);
        if (lsp && m_flooding->Receive(port, from, *lsp))
        {
            ComputeSoon();
        }
    }
    else if (const auto numbers = SequenceNumbers::Parse(bytes))
    {
        m_flooding->Receive(port, *numbers);
    }
}

void
RBridge::AdjacencyChanged(RBridgePort& port, bool up)
{
    m_adjacencyTrace(port.GetDevice(), up);
    PublishSoon();
    if (!m_database)
    {
        return;
    }
    OriginateSoon();
    ComputeSoon();
    if (up)
    {
        m_flooding->SendSummary(port);
    }
}

void
RBridge::ServiceChanged(RBridgePort& port)
{
    const bool serves = m_tables->ports[port.GetIndex()].serves_terminals;
    PublishSoon();
    if (!serves && m_terminals && m_terminals->ForgetPort(port.GetIndex()))
    {
        OriginateSoon();
    }
}

LspContent
RBridge::GetContent() const
{
    LspContent content;
    content.claim = LspContent::Claim{
        .nickname = m_nickname,
        .priority = static_cast<uint8_t>(m_nicknamePriority + (m_wantedNickname ? 128 : 0)),
        .root_priority = m_rootPriority};
    content.trees = m_trees;
    content.max_trees = viaduct::rbridge::kMaxTrees;
    std::set<viaduct::rbridge::SystemId> neighbours;
    for (const auto& port : m_ports)
    {
        for (const auto& adjacency : port->GetAdjacencies())
        {
            if (neighbours.insert(adjacency.neighbour).second)
            {
                content.neighbours.push_back({adjacency.neighbour, m_metric});
            }
        }
    }
    content.terminals = m_terminals->Local();
    return content;
}

void
RBridge::OriginateSoon()
{
    if (!m_originate.IsPending())
    {
        const Time earliest = m_originated + m_lspInterval - Simulator::Now();
        m_originate = Simulator::Schedule(Max(earliest, COMPUTE_DELAY), &RBridge::Originate, this);
    }
}

void
RBridge::Originate()
{
    m_originated = Simulator::Now();
    const auto changed = m_database->Originate(GetContent(), InstantNow());
    if (!changed.empty())
    {
        m_flooding->Flood(changed);
        ComputeSoon();
    }
}

void
RBridge::ComputeSoon()
{
    if (!m_compute.IsPending())
    {
        m_compute = Simulator::Schedule(COMPUTE_DELAY, &RBridge::Compute, this);
    }
}

void
RBridge::Compute()
{
    const LinkStates states = m_database->Contents();
    CheckNickname(states);
    std::vector<viaduct::rbridge::OwnAdjacency> adjacencies;
    for (const auto& port : m_ports)
    {
        const auto own = port->GetAdjacencies();
        adjacencies.insert(adjacencies.end(), own.begin(), own.end());
    }
    m_routes->Compute(states, adjacencies, *m_tables);
    if (m_terminals->Update(states, m_routes->Reachable()))
    {
        OriginateSoon();
    }
    PublishSoon();
    m_routesTrace(GetReachable().size());
}

void
RBridge::CheckNickname(const LinkStates& states)
{
    const auto owners = viaduct::rbridge::NicknameOwners(states);
    const auto owner = owners.find(m_nickname);
    if (owner != owners.end() && owner->second != m_common.system)
    {
        ChooseNickname(states);
        OriginateSoon();
    }
}

void
RBridge::ChooseNickname(const LinkStates& states)
{
    const auto taken = viaduct::rbridge::NicknameOwners(states);
    uint16_t nickname = m_wantedNickname;
    if (nickname == 0)
    {
        // RFC 6325 section 3.7.3 suggests a hash of the identifier, so that the RBridge has the
        // same nickname after a restart.
        const auto& id = m_common.system.bytes;
        nickname = static_cast<uint16_t>((id[0] ^ id[2] ^ id[4]) << 8 | (id[1] ^ id[3] ^ id[5]));
    }
    while (!viaduct::rbridge::IsUsable(nickname) || taken.contains(nickname))
    {
        nickname = static_cast<uint16_t>(m_random->GetInteger(1, 0xffbf));
    }
    m_nickname = nickname;
    m_tables->nickname = nickname;
    PublishSoon();
}

void
RBridge::SendSummaries()
{
    m_summaries = Simulator::Schedule(m_csnpInterval, &RBridge::SendSummaries, this);
    for (const auto& port : m_ports)
    {
        if (port->SendsSummaries())
        {
            m_flooding->SendSummary(*port);
        }
    }
}

void
RBridge::AgeLinkStates()
{
    m_age = Simulator::Schedule(AGE_INTERVAL, &RBridge::AgeLinkStates, this);
    const auto flooded = m_database->Age(InstantNow());
    if (!flooded.empty())
    {
        m_flooding->Flood(flooded);
        ComputeSoon();
    }
}

void
RBridge::AgeTerminals()
{
    m_ageTerminals =
        Simulator::Schedule(m_terminalAge / Terminals::kSilentEpochs, &RBridge::AgeTerminals, this);
    PublishSoon();
    if (m_terminals->NextEpoch())
    {
        OriginateSoon();
    }
}

// ---------------------------------------------------------------- queries

std::string
RBridge::GetSystemId() const
{
    return viaduct::rbridge::SystemId{m_tables->ports.front().mac.bytes}.ToString();
}

Mac48Address
RBridge::GetNextHop(uint16_t nickname) const
{
    const auto index = m_tables->by_nickname[nickname];
    const auto hop = index == viaduct::rbridge::kNone ? viaduct::rbridge::kNone
                                                      : m_tables->rbridges[index].next_hop;
    return hop == viaduct::rbridge::kNone ? Mac48Address("00:00:00:00:00:00")
                                          : ToMac48(m_tables->adjacencies[hop].mac);
}

std::vector<uint16_t>
RBridge::GetReachable() const
{
    std::vector<uint16_t> nicknames;
    for (const auto& entry : m_tables->rbridges)
    {
        if (entry.nickname != 0 && entry.next_hop != viaduct::rbridge::kNone)
        {
            nicknames.push_back(entry.nickname);
        }
    }
    return nicknames;
}

uint16_t
RBridge::FindTerminal(const Mac48Address& terminal) const
{
    const auto* entry = m_tables->terminals.Find(
        viaduct::rbridge::MakeKey(ToWire(terminal), viaduct::rbridge::kDefaultVlan));
    return entry ? m_tables->rbridges[entry->location.rbridge].nickname : 0;
}

} // namespace ns3
