/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/wmrp/rbridge-flooding.h"

#include "ns3/wmrp/rbridge-time.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

using viaduct::rbridge::Database;
using viaduct::rbridge::Lsp;
using viaduct::rbridge::LspId;
using viaduct::rbridge::SequenceNumbers;
using viaduct::rbridge::SystemId;

namespace
{

/** The maximum delay until LSPs are sent. The delay is random, so that several RBridges that could
 * answer a request rarely answer at the same time; the first answer makes further answers
 * superfluous.
 */
const Time FLOOD_DELAY = MilliSeconds(5);

} // namespace

RBridgeFlooding::RBridgeFlooding(const SystemId& system,
                                 Database& database,
                                 Ptr<UniformRandomVariable> jitter)
    : m_system(system), m_database(database), m_jitter(jitter)
{
}

RBridgeFlooding::~RBridgeFlooding()
{
    for (auto& [index, queue] : m_queues)
    {
        queue.flush.Cancel();
    }
}

void
RBridgeFlooding::AddPort(RBridgePort& port)
{
    m_queues[port.GetIndex()].port = &port;
}

void
RBridgeFlooding::Flood(const std::vector<LspId>& ids)
{
    for (auto& [index, queue] : m_queues)
    {
        queue.lsps.insert(ids.begin(), ids.end());
        Arm(queue);
    }
}

bool
RBridgeFlooding::Receive(RBridgePort& port, const viaduct::wire::MacAddress& from, const Lsp& lsp)
{
    const auto verdict = m_database.Receive(lsp, InstantNow());
    Queue& here = QueueOf(port);
    here.requests.erase(lsp.id);
    switch (verdict)
    {
    case Database::Verdict::kNewer:
        Flood({lsp.id});
        if (port.IsHeardByAll(from))
        {
            here.lsps.erase(lsp.id);
        }
        return true;
    case Database::Verdict::kOwn:
        Flood({lsp.id});
        return true;
    case Database::Verdict::kOlder:
        here.lsps.insert(lsp.id);
        Arm(here);
        return false;
    case Database::Verdict::kSame:
        if (port.IsHeardByAll(from))
        {
            // The sender's copy of the LSP has reached all neighbours on the link.
            here.lsps.erase(lsp.id);
        }
        return false;
    }
    return false;
}

void
RBridgeFlooding::Receive(RBridgePort& port, const SequenceNumbers& numbers)
{
    const auto difference = m_database.CompareAll(numbers, InstantNow());
    Queue& queue = QueueOf(port);
    queue.lsps.insert(difference.to_send.begin(), difference.to_send.end());
    queue.requests.insert(difference.to_request.begin(), difference.to_request.end());
    Arm(queue);
}

void
RBridgeFlooding::SendSummary(const RBridgePort& port) const
{
    for (const SequenceNumbers& numbers : m_database.Summary(InstantNow()))
    {
        port.Send(numbers.Write());
    }
}

RBridgeFlooding::Queue&
RBridgeFlooding::QueueOf(const RBridgePort& port)
{
    return m_queues.at(port.GetIndex());
}

void
RBridgeFlooding::Arm(Queue& queue)
{
    if (queue.flush.IsPending() || (queue.lsps.empty() && queue.requests.empty()))
    {
        return;
    }
    const Time delay = FLOOD_DELAY * m_jitter->GetValue(0.2, 1);
    queue.flush = Simulator::Schedule(delay, &RBridgeFlooding::Flush, this, queue.port->GetIndex());
}

void
RBridgeFlooding::Flush(viaduct::rbridge::PortIndex index)
{
    RBridgePort* port = m_queues.at(index).port;
    const Queue queue =
        std::exchange(m_queues.at(index), {.port = port, .lsps = {}, .requests = {}, .flush = {}});
    if (!port->HasAdjacencies())
    {
        return; // a neighbour that appears later will request the LSPs that it lacks
    }
    for (const LspId& id : queue.lsps)
    {
        if (m_database.Knows(id))
        {
            port->Send(m_database.Get(id, InstantNow()).Write());
        }
    }
    SequenceNumbers numbers{
        .complete = false, .source = m_system, .first = {}, .last = {}, .entries = {}};
    for (const LspId& id : queue.requests)
    {
        if (numbers.entries.size() == SequenceNumbers::kMaxEntries)
        {
            port->Send(numbers.Write());
            numbers.entries.clear();
        }
        numbers.entries.push_back(m_database.EntryFor(id, InstantNow()));
    }
    if (!numbers.entries.empty())
    {
        port->Send(numbers.Write());
    }
}

} // namespace ns3
