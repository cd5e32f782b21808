/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/wmrp/rbridge-shared-plane.h"

#include "plane/forward/rbridge.h"

namespace ns3
{

using viaduct::forward::TerminalSeen;

RBridgeSharedPlane::RBridgeSharedPlane(RBridge& rbridge,
                                       Ptr<Node> node,
                                       viaduct::broker::Tables tables)
    : m_rbridge(rbridge),
      m_tables(tables.table.get(), tables.table_words),
      m_writer(m_tables.writable()),
      m_listener(node,
                 std::move(tables.doorbell),
                 tables.events.get(),
                 [this](const viaduct::forward::Event& event) {
                     const TerminalSeen seen = TerminalSeen::FromEvent(event);
                     m_rbridge.Learn(seen.key, seen.rbridge, seen.port);
                 })
{
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

// Publishes the RBridge's current tables, not the tables of the last call of Publish(). A port may
// have just begun to serve terminals, so that the RBridge has only scheduled Publish(): if this
// change was missing, terminals on the port's link would lose frames until Publish() runs.
void
RBridgeSharedPlane::Release()
{
    if (m_held)
    {
        m_held = false;
        m_writer.Publish(m_rbridge.GetTables());
    }
}

} // namespace ns3
