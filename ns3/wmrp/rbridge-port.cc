/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/wmrp/rbridge-port.h"

#include "ns3/base/wire-conversion.h"
#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RBridgePort");

using viaduct::rbridge::Adjacency;
using viaduct::rbridge::AdjacencyIndex;
using viaduct::rbridge::Hello;
using viaduct::rbridge::kAllIsIsRBridges;
using viaduct::rbridge::kIsIsType;
using viaduct::rbridge::kNone;
using viaduct::rbridge::Octets;
using viaduct::rbridge::OwnAdjacency;
using viaduct::rbridge::PortIndex;
using viaduct::rbridge::Tables;
using viaduct::wire::MacAddress;
using wireconversion::ToMac48;
using wireconversion::ToWire;

namespace
{

/** Maximum delay of a Hello after a change, so that several changes need one Hello. */
const Time HELLO_DELAY = MilliSeconds(5);

} // namespace

RBridgePort::RBridgePort(User& user,
                         const RBridgePortSettings& settings,
                         Tables& tables,
                         PortIndex index,
                         bool terminals)
    : m_user(user), m_settings(settings), m_tables(tables), m_index(index), m_terminals(terminals)
{
}

MacAddress
RBridgePort::GetMac() const
{
    return ToWire(Mac48Address::ConvertFrom(m_device->GetAddress()));
}

void
RBridgePort::SetDevice(Ptr<NetDevice> device)
{
    m_device = device;
    // A RingNetDevice must not check packets, because an RBridge also forwards packets that ns-3
    // cannot parse. Other devices do not have the attribute.
    device->SetAttributeFailSafe("CheckPackets", BooleanValue(false));
    m_tables.ports[m_index] = {.mac = GetMac(), .exists = true, .serves_terminals = false};
    UpdateService();
}

void
RBridgePort::Start()
{
    m_running = true;
    LinkChanged();
}

void
RBridgePort::Stop()
{
    m_running = false;
    LinkChanged();
}

void
RBridgePort::LinkChanged()
{
    const bool up = m_running && m_device->IsLinkUp();
    if (std::exchange(m_up, up) == up)
    {
        return;
    }
    NS_LOG_FUNCTION(this << m_index << up);
    m_hello.Cancel();
    m_inhibited.Cancel();
    m_designated = false;
    if (up)
    {
        HelloSoon();
        Elect();
    }
    else
    {
        ForgetNeighbours();
        UpdateService();
    }
}

void
RBridgePort::ForgetNeighbours()
{
    while (!m_neighbours.empty())
    {
        auto first = m_neighbours.begin();
        first->second.expiry.Cancel();
        SetTwoWay(first->first, first->second, false);
        m_neighbours.erase(first);
    }
}

void
RBridgePort::Send(const Octets& pdu) const
{
    auto packet = Create<Packet>(reinterpret_cast<const uint8_t*>(pdu.data()), pdu.size());
    m_device->Send(packet, ToMac48(kAllIsIsRBridges), kIsIsType);
}

void
RBridgePort::HelloSoon()
{
    m_hello.Cancel();
    const Time delay = HELLO_DELAY * m_settings.jitter->GetValue(0, 1);
    m_hello = Simulator::Schedule(delay, &RBridgePort::SendHello, this);
}

void
RBridgePort::SendHello()
{
    // ISO 10589 section 10.1: the interval is shortened at random by up to a quarter, so that the
    // Hellos of neighbours do not synchronize.
    const Time next = m_settings.helloInterval * m_settings.jitter->GetValue(0.75, 1);
    m_hello = Simulator::Schedule(next, &RBridgePort::SendHello, this);
    const Time hold = m_settings.helloInterval * m_settings.holdMultiplier;
    const auto designated = Designated();
    Hello hello{.source = m_settings.system,
                .holding_time =
                    static_cast<uint16_t>(std::clamp(std::ceil(hold.GetSeconds()), 1.0, 65535.0)),
                .priority = m_settings.priority,
                .designated = designated == m_neighbours.end() ? m_settings.system
                                                               : designated->second.system,
                .port = m_index,
                .nickname = m_tables.nickname,
                .forwards_natively = m_tables.ports[m_index].serves_terminals != 0,
                .heard = {}};
    for (const auto& [mac, neighbour] : m_neighbours)
    {
        hello.heard.push_back(mac);
    }
    Send(hello.Write());
}

void
RBridgePort::Receive(const Hello& hello, const MacAddress& from)
{
    if (!m_up || from == GetMac())
    {
        return;
    }
    const auto known = m_neighbours.find(from);
    if (hello.holding_time == 0 ||
        (known != m_neighbours.end() && known->second.system != hello.source))
    {
        Expire(from);
    }
    if (hello.holding_time == 0)
    {
        return;
    }
    const bool added = !m_neighbours.contains(from);
    Neighbour& neighbour = m_neighbours[from];
    neighbour.system = hello.source;
    neighbour.priority = hello.priority;
    neighbour.heard = hello.heard;
    neighbour.expiry.Cancel();
    neighbour.expiry =
        Simulator::Schedule(Seconds(hello.holding_time), &RBridgePort::Expire, this, from);
    const bool hearsThis = std::ranges::find(hello.heard, GetMac()) != hello.heard.end();
    if (added)
    {
        HelloSoon();
    }
    // Another port of this RBridge on the same link is a candidate of the election, but not an
    // adjacency.
    SetTwoWay(from, neighbour, hearsThis && hello.source != m_settings.system);
    Elect();
}

void
RBridgePort::SetTwoWay(const MacAddress& mac, Neighbour& neighbour, bool twoWay)
{
    if (twoWay == (neighbour.index != kNone))
    {
        return;
    }
    if (!twoWay)
    {
        m_tables.SetAdjacency(neighbour.index, {.mac = {}, .port = kNone});
        neighbour.index = kNone;
    }
    else
    {
        const auto free = std::ranges::find(m_tables.adjacencies, kNone, &Adjacency::port);
        if (free == m_tables.adjacencies.end())
        {
            return; // no adjacency: the number of neighbours exceeds the tables' capacity
        }
        neighbour.index = static_cast<AdjacencyIndex>(free - m_tables.adjacencies.begin());
        m_tables.SetAdjacency(neighbour.index, {.mac = mac, .port = m_index});
        HelloSoon();
    }
    NS_LOG_LOGIC(neighbour.system.ToString() << (twoWay ? " up" : " down"));
    m_user.AdjacencyChanged(*this, twoWay);
}

void
RBridgePort::Expire(MacAddress mac)
{
    const auto found = m_neighbours.find(mac);
    if (found == m_neighbours.end())
    {
        return;
    }
    found->second.expiry.Cancel();
    SetTwoWay(mac, found->second, false);
    m_neighbours.erase(found);
    HelloSoon();
    Elect();
}

RBridgePort::Neighbours::const_iterator
RBridgePort::Designated() const
{
    const auto rank = [](const auto& one) { return std::pair(one.second.priority, one.first); };
    const auto best = std::ranges::max_element(m_neighbours, {}, rank);
    const bool own =
        best == m_neighbours.end() || rank(*best) < std::pair(m_settings.priority, GetMac());
    return own ? m_neighbours.end() : best;
}

void
RBridgePort::Elect()
{
    const bool designated = m_up && Designated() == m_neighbours.end();
    if (std::exchange(m_designated, designated) != designated && designated)
    {
        m_inhibited.Cancel();
        m_inhibited = Simulator::Schedule(m_settings.inhibition, &RBridgePort::UpdateService, this);
    }
    UpdateService();
}

void
RBridgePort::UpdateService()
{
    const bool serves = m_terminals && m_up && m_designated && !m_inhibited.IsPending();
    if (std::exchange(m_tables.ports[m_index].serves_terminals, serves) != serves)
    {
        m_user.ServiceChanged(*this);
    }
}

bool
RBridgePort::IsHeardByAll(const MacAddress& sender) const
{
    return std::ranges::all_of(m_neighbours, [&](const auto& one) {
        const auto& [mac, neighbour] = one;
        return mac == sender || neighbour.index == kNone ||
               std::ranges::find(neighbour.heard, sender) != neighbour.heard.end();
    });
}

bool
RBridgePort::SendsSummaries() const
{
    const auto designated = Designated();
    return HasAdjacencies() &&
           (designated == m_neighbours.end() || !IsHeardByAll(designated->first));
}

bool
RBridgePort::HasAdjacencies() const
{
    return std::ranges::any_of(m_neighbours,
                               [](const auto& one) { return one.second.index != kNone; });
}

std::vector<OwnAdjacency>
RBridgePort::GetAdjacencies() const
{
    std::vector<OwnAdjacency> adjacencies;
    for (const auto& [mac, neighbour] : m_neighbours)
    {
        if (neighbour.index != kNone)
        {
            adjacencies.push_back({neighbour.index, neighbour.system, GetMac(), mac});
        }
    }
    return adjacencies;
}

} // namespace ns3
