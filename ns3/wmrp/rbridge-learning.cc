/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/wmrp/rbridge.h"

#include "ns3/simulator.h"

/** @file
 * The part of an RBridge that exchanges tables and reports with a data plane outside the simulator.
 */

namespace ns3
{

using viaduct::rbridge::kNone;
using viaduct::rbridge::Location;
using viaduct::rbridge::PortIndex;
using viaduct::rbridge::RBridgeIndex;
using viaduct::rbridge::Seen;
using viaduct::rbridge::TerminalKey;

namespace
{

constexpr uint16_t RESERVED_VLAN = 0xfff; //!< the first VLAN ID that does not fit into a tag
/** Delay after a change of the tables, so that several changes are copied to the data plane at
 * once. */
const Time PUBLISH_DELAY = MilliSeconds(1);

} // namespace

void
RBridge::SetPlane(std::unique_ptr<RBridgePlane> plane)
{
    m_plane = std::move(plane);
    Publish();
}

PortIndex
RBridge::GetPortIndex(Ptr<NetDevice> device) const
{
    const RBridgePort* port = FindPort(device);
    return port ? port->GetIndex() : kNone;
}

void
RBridge::Learn(TerminalKey terminal, uint16_t nickname, PortIndex port)
{
    const auto mac = viaduct::rbridge::MacOf(terminal);
    const uint16_t vlan = viaduct::rbridge::VlanOf(terminal);
    // A report of a terminal may be out of date or wrong, because another process sends it.
    if (!m_terminals || mac.IsMulticast() || mac == viaduct::wire::MacAddress{} || vlan == 0 ||
        vlan >= RESERVED_VLAN)
    {
        return;
    }
    const RBridgeIndex other = m_tables->by_nickname[nickname];
    const bool isOwn = nickname == 0;
    if (isOwn ? port >= m_ports.size() || !m_tables->ports[port].serves_terminals
              : other == 0 || other >= viaduct::rbridge::kMaxRBridges)
    {
        return;
    }
    Learn({terminal, isOwn ? Location{.rbridge = 0, .port = port} : Location{.rbridge = other}});
}

void
RBridge::Learn(const Seen& seen)
{
    if (m_terminals->Learn(seen))
    {
        OriginateSoon();
    }
    PublishSoon();
}

void
RBridge::PublishSoon()
{
    if (m_plane && !m_publish.IsPending())
    {
        m_publish = Simulator::Schedule(PUBLISH_DELAY, &RBridge::Publish, this);
    }
}

void
RBridge::Publish()
{
    m_publish.Cancel();
    if (m_plane)
    {
        m_plane->Publish(*m_tables);
    }
}

} // namespace ns3
