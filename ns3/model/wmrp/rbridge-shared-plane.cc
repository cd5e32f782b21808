/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "rbridge-shared-plane.h"

#include "ns3/log.h"
#include "ns3/reactor-simulator-impl.h"

#include "base/error.h"
#include "forward/rbridge.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RBridgeSharedPlane");

using viaduct::forward::Mapping;
using viaduct::forward::TerminalSeen;

RBridgeSharedPlane::RBridgeSharedPlane(RBridge& rbridge,
                                       Ptr<Node> node,
                                       viaduct::broker::Tables tables)
    : m_rbridge(rbridge),
      m_node(node->GetId()),
      m_doorbell(std::move(tables.doorbell)),
      m_tables(tables.table.get(), tables.table_words),
      m_events(tables.events.get(), Mapping::Access::kWrite),
      m_writer(m_tables.writable()),
      m_reader(m_events.writable(), m_doorbell.get())
{
    Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get();
    if (!reactor)
    {
        throw viaduct::UsageError("an RBridge whose data plane has left the simulator needs "
                                  "ns3::ReactorSimulatorImpl");
    }
    m_pollable =
        reactor->AddPollable(m_doorbell.get(), Callback<bool>([this, reactor] {
                                 reactor->AdvanceToRealTime();
                                 bool any = false;
                                 reactor->RunInContext(m_node, [&] { any = ReadEvents(); });
                                 return any;
                             }));
}

RBridgeSharedPlane::~RBridgeSharedPlane()
{
    StopListening();
}

void
RBridgeSharedPlane::StopListening()
{
    Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get();
    if (m_pollable && reactor)
    {
        reactor->RemovePollable(*m_pollable);
    }
    m_pollable.reset();
}

void
RBridgeSharedPlane::Publish(const viaduct::rbridge::Tables& tables)
{
    if (!m_held)
    {
        m_writer.Publish(tables);
    }
}

void
RBridgeSharedPlane::Hold()
{
    m_held = true;
}

// What the RBridge would publish soon is among them: a port that has just begun to serve terminals,
// say, without which those of now would lose frames until then.
void
RBridgeSharedPlane::Release()
{
    if (m_held)
    {
        m_held = false;
        m_writer.Publish(m_rbridge.GetTables());
    }
}

bool
RBridgeSharedPlane::ReadEvents()
{
    if (!m_reader.Answer())
    {
        // Only a data plane that has been taken over does so. It forwards by the tables as before.
        NS_LOG_WARN("the data plane of node " << m_node << " has cut itself off: it reports no "
                                              << "terminals any more");
        StopListening();
    }
    bool any = false;
    while (const auto event = m_reader.Read())
    {
        const TerminalSeen seen = TerminalSeen::FromEvent(*event);
        m_rbridge.Learn(seen.key, seen.rbridge, seen.port);
        any = true;
    }
    return any;
}

} // namespace ns3
