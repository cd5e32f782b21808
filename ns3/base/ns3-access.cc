/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/base/ns3-access.h"

#include "ns3/base/global-routing-class.h"

#include "ns3/abort.h"
#include "ns3/arp-cache.h"
#include "ns3/default-simulator-impl.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-raw-socket-impl.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/ipv6-static-routing.h"
#include "ns3/object-map.h"
#include "ns3/olsr-routing-protocol.h"
#include "ns3/ping.h"
#include "ns3/rip.h"
#include "ns3/ripng.h"
#include "ns3/scheduler.h"
#include "ns3/simulator.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/tcp-tx-buffer.h"

#include <limits>
#include <list>
#include <map>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace ns3::ns3access
{
namespace
{

using ReverseMap = std::map<Ptr<const NetDevice>, uint32_t>;

/** Names for members of ns-3's classes. */
using Ipv4ReverseMap = std::integral_constant<int, 0>;
using Ipv6ReverseMap = std::integral_constant<int, 1>;
using Ipv4RawSockets = std::integral_constant<int, 2>;
using Ipv6RawSockets = std::integral_constant<int, 3>;
using OlsrHna = std::integral_constant<int, 4>;
using SimulatorEvents = std::integral_constant<int, 5>;
using Ipv4StaticTable = std::integral_constant<int, 6>;
using Ipv6StaticTable = std::integral_constant<int, 7>;
using GlobalHosts = std::integral_constant<int, 8>;
using GlobalNetworks = std::integral_constant<int, 9>;
using GlobalExternals = std::integral_constant<int, 10>;
using RipTable = std::integral_constant<int, 11>;
using RipNgTable = std::integral_constant<int, 12>;
using PacketTags = std::integral_constant<int, 13>;
using SocketConnected = std::integral_constant<int, 14>;
using TcpPersistEvent = std::integral_constant<int, 15>;
using TcpPersistDelay = std::integral_constant<int, 16>;
using TcpPersistExpired = std::integral_constant<int, 17>;
using TcpToSend = std::integral_constant<int, 18>;
using TcpState = std::integral_constant<int, 19>;
using ArpDrops = std::integral_constant<int, 20>;
using PingReported = std::integral_constant<int, 21>;

template <class Entry, class Info>
using EntriesWith = std::list<std::pair<Entry*, Info>>;

/** Declares, for each name, a function that returns the pointer to the member, with the member's
 *  expected type. The types of the members with the names NodeHandlers and PingRequests are checked
 *  below, where the members are used. */
constexpr ReverseMap Ipv4L3Protocol::*Get(Ipv4ReverseMap);
constexpr ReverseMap Ipv6L3Protocol::*Get(Ipv6ReverseMap);
constexpr std::list<Ptr<Ipv4RawSocketImpl>> Ipv4L3Protocol::*Get(Ipv4RawSockets);
constexpr std::list<Ptr<Ipv6RawSocketImpl>> Ipv6L3Protocol::*Get(Ipv6RawSockets);
constexpr Ptr<Ipv4StaticRouting> olsr::RoutingProtocol::*Get(OlsrHna);
constexpr Ptr<Scheduler> DefaultSimulatorImpl::*Get(SimulatorEvents);
constexpr EntriesWith<Ipv4RoutingTableEntry, uint32_t> Ipv4StaticRouting::*Get(Ipv4StaticTable);
constexpr EntriesWith<Ipv6RoutingTableEntry, uint32_t> Ipv6StaticRouting::*Get(Ipv6StaticTable);
constexpr std::list<Ipv4RoutingTableEntry*> Ipv4GlobalRouting::*Get(GlobalHosts);
constexpr std::list<Ipv4RoutingTableEntry*> Ipv4GlobalRouting::*Get(GlobalNetworks);
constexpr std::list<Ipv4RoutingTableEntry*> Ipv4GlobalRouting::*Get(GlobalExternals);
constexpr EntriesWith<RipRoutingTableEntry, EventId> Rip::*Get(RipTable);
constexpr EntriesWith<RipNgRoutingTableEntry, EventId> RipNg::*Get(RipNgTable);
constexpr PacketTagList Packet::*Get(PacketTags);
constexpr Callback<void, Ptr<Socket>> Socket::*Get(SocketConnected);
constexpr EventId TcpSocketBase::*Get(TcpPersistEvent);
constexpr bool Ping::*Get(PingReported);
constexpr Time TcpSocketBase::*Get(TcpPersistDelay);
constexpr void (TcpSocketBase::*Get(TcpPersistExpired))();
constexpr Ptr<TcpTxBuffer> TcpSocketBase::*Get(TcpToSend);
constexpr Ptr<TcpSocketState> TcpSocketBase::*Get(TcpState);
constexpr TracedCallback<Ptr<const Packet>> ArpCache::*Get(ArpDrops);

struct NodeHandlers
{
    friend constexpr auto Get(NodeHandlers);
};

struct PingRequests
{
    friend constexpr auto Get(PingRequests);
};

/**
 * Defines Get(Name), which returns the pointer to member given in an explicit instantiation of
 * Grant. Does not compile if the member's type differs from the type in the declaration of
 * Get(Name) above; in that case ns3-access must be adapted.
 */
template <typename Name, auto Member>
struct Grant
{
    friend constexpr decltype(Member) Get(Name)
    {
        return Member;
    }
};

/** Defines Get(Name) for a member whose type has no name outside of its class. */
template <auto Member>
struct Grant<NodeHandlers, Member>
{
    friend constexpr auto Get(NodeHandlers)
    {
        return Member;
    }
};

template <auto Member>
struct Grant<PingRequests, Member>
{
    friend constexpr auto Get(PingRequests)
    {
        return Member;
    }
};

template struct Grant<ArpDrops, &ArpCache::m_dropTrace>;
template struct Grant<Ipv4ReverseMap, &Ipv4L3Protocol::m_reverseInterfacesContainer>;
template struct Grant<Ipv6ReverseMap, &Ipv6L3Protocol::m_reverseInterfacesContainer>;
template struct Grant<Ipv4RawSockets, &Ipv4L3Protocol::m_sockets>;
template struct Grant<Ipv6RawSockets, &Ipv6L3Protocol::m_sockets>;
template struct Grant<NodeHandlers, &Node::m_handlers>;
template struct Grant<PingRequests, &Ping::m_sent>;
template struct Grant<PingReported, &Ping::m_reportPrinted>;
template struct Grant<OlsrHna, &olsr::RoutingProtocol::m_hnaRoutingTable>;
template struct Grant<SimulatorEvents, &DefaultSimulatorImpl::m_events>;
template struct Grant<Ipv4StaticTable, &Ipv4StaticRouting::m_networkRoutes>;
template struct Grant<Ipv6StaticTable, &Ipv6StaticRouting::m_networkRoutes>;
template struct Grant<GlobalHosts, &Ipv4GlobalRouting::m_hostRoutes>;
template struct Grant<GlobalNetworks, &Ipv4GlobalRouting::m_networkRoutes>;
template struct Grant<GlobalExternals, &Ipv4GlobalRouting::m_ASexternalRoutes>;
template struct Grant<RipTable, &Rip::m_routes>;
template struct Grant<RipNgTable, &RipNg::m_routes>;
template struct Grant<PacketTags, &Packet::m_packetTagList>;
template struct Grant<SocketConnected, &Socket::m_connectionSucceeded>;
template struct Grant<TcpPersistEvent, &TcpSocketBase::m_persistEvent>;
template struct Grant<TcpPersistDelay, &TcpSocketBase::m_persistTimeout>;
template struct Grant<TcpPersistExpired, &TcpSocketBase::PersistTimeout>;
template struct Grant<TcpToSend, &TcpSocketBase::m_txBuffer>;
template struct Grant<TcpState, &TcpSocketBase::m_tcb>;

using HandlerEntry =
    std::remove_cvref_t<decltype((std::declval<const Node&>().*Get(NodeHandlers{})).front())>;
static_assert(std::is_same_v<decltype(HandlerEntry::handler), Node::ProtocolHandler> &&
                  std::is_same_v<decltype(HandlerEntry::device), Ptr<NetDevice>> &&
                  std::is_same_v<decltype(HandlerEntry::protocol), uint16_t> &&
                  std::is_same_v<decltype(HandlerEntry::promiscuous), bool>,
              "ns-3 has changed the members of Node::ProtocolHandlerEntry: adapt ns3-access.cc");

void
Replace(ReverseMap& map, Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice)
{
    auto found = map.find(oldDevice);
    NS_ABORT_MSG_IF(found == map.end(), "the device to replace has no IP interface");
    const uint32_t interface = found->second;
    map.erase(found);
    map[newDevice] = interface;
}

/** @return the protocol as a Class if its class is exactly Class, or if it inherits the table of
 *  Class (InheritsUnicastTable); otherwise null */
template <class Class, class Protocol>
const Class*
Exactly(const Protocol& protocol)
{
    if (typeid(protocol) == typeid(Class))
    {
        return static_cast<const Class*>(&protocol);
    }
    const bool hasItsTable = dynamic_cast<const InheritsUnicastTable*>(&protocol) != nullptr;
    return hasItsTable ? dynamic_cast<const Class*>(&protocol) : nullptr;
}

template <class Static, class Name, class Protocol, class Visit>
bool
VisitStatic(const Protocol& protocol, Name name, const Visit& visit)
{
    const auto* routing = Exactly<Static>(protocol);
    if (routing)
    {
        for (const auto& [route, metric] : routing->*Get(name))
        {
            visit(*route, metric);
        }
    }
    return routing != nullptr;
}

/** Calls `visit` for each valid route of RIP or RIPng, but not for routes that the protocol still
 *  announces as unreachable. */
template <class Routing, class Name, class Protocol, class Visit, class Status>
bool
VisitRip(const Protocol& protocol, Name name, Status valid, const Visit& visit)
{
    const auto* routing = Exactly<Routing>(protocol);
    if (routing)
    {
        for (const auto& [route, timeout] : routing->*Get(name))
        {
            if (route->GetRouteStatus() == valid)
            {
                visit(*route, route->GetRouteMetric());
            }
        }
    }
    return routing != nullptr;
}

bool
VisitGlobal(const Ipv4RoutingProtocol& protocol, const RouteVisitor<Ipv4RoutingTableEntry>& visit)
{
    const auto* routing = Exactly<Ipv4GlobalRouting>(protocol);
    if (routing)
    {
        for (const auto* table : {&(routing->*Get(GlobalHosts{})),
                                  &(routing->*Get(GlobalNetworks{})),
                                  &(routing->*Get(GlobalExternals{}))})
        {
            for (const Ipv4RoutingTableEntry* route : *table)
            {
                visit(*route, 0);
            }
        }
    }
    return routing != nullptr;
}

void Probe(TcpSocketBase* socket);

/** Schedules Probe() and stores the event as the socket's persist timer, so that the socket cancels
 *  the event when the socket ends. */
void
ProbeAfter(Time delay, TcpSocketBase* socket)
{
    socket->*Get(TcpPersistEvent{}) = Simulator::Schedule(delay, &Probe, socket);
}

/** Replaces the pending event of ns-3's persist timer by an event that calls Probe(). */
void
TakePersistEvent(TcpSocketBase* socket)
{
    const EventId event = socket->*Get(TcpPersistEvent{});
    if (event.IsPending())
    {
        const Time left = Simulator::GetDelayLeft(event);
        Simulator::Remove(event);
        ProbeAfter(left, socket);
    }
}

void
Probe(TcpSocketBase* socket)
{
    const SequenceNumber32 next = (socket->*Get(TcpState{}))->m_nextTxSequence;
    if ((socket->*Get(TcpToSend{}))->SizeFromSequence(next) == 0)
    {
        return ProbeAfter(socket->*Get(TcpPersistDelay{}), socket);
    }
    (socket->*Get(TcpPersistExpired{}))();
    TakePersistEvent(socket);
}

} // namespace

void
ReplaceInReverseMap(Ipv4L3Protocol& ipv4, Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice)
{
    Replace(ipv4.*Get(Ipv4ReverseMap{}), oldDevice, newDevice);
}

void
ReplaceInReverseMap(Ipv6L3Protocol& ipv6, Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice)
{
    Replace(ipv6.*Get(Ipv6ReverseMap{}), oldDevice, newDevice);
}

std::vector<Ptr<Socket>>
RawSockets(Ptr<Ipv4L3Protocol> ip)
{
    if (!ip)
    {
        return {};
    }
    const auto& sockets = PeekPointer(ip)->*Get(Ipv4RawSockets{});
    return {sockets.begin(), sockets.end()};
}

std::vector<Ptr<Socket>>
RawSockets(Ptr<Ipv6L3Protocol> ip)
{
    if (!ip)
    {
        return {};
    }
    std::vector<Ptr<Socket>> sockets;
    for (const auto& socket : PeekPointer(ip)->*Get(Ipv6RawSockets{}))
    {
        // ipv6-raw-socket-impl.h is not a public header of ns-3. Ipv6RawSocketImpl derives
        // from Socket alone (src/internet/model/ipv6-raw-socket-impl.h), so the Socket is at the
        // start of the object.
        sockets.emplace_back(reinterpret_cast<Socket*>(PeekPointer(socket)));
    }
    return sockets;
}

bool
HasRawSockets(const Ipv4L3Protocol& ip)
{
    return !(ip.*Get(Ipv4RawSockets{})).empty();
}

bool
HasRawSockets(const Ipv6L3Protocol& ip)
{
    return !(ip.*Get(Ipv6RawSockets{})).empty();
}

void
SharePacketTags(Packet& packet, const PacketTagList& tags)
{
    packet.*Get(PacketTags{}) = tags;
}

std::vector<Ptr<Socket>>
SocketsOf(Ptr<const Object> transport)
{
    std::vector<Ptr<Socket>> sockets;
    if (transport)
    {
        ObjectMapValue list;
        transport->GetAttribute("SocketList", list);
        for (auto i = list.Begin(); i != list.End(); ++i)
        {
            sockets.push_back(DynamicCast<Socket>(i->second));
        }
    }
    return sockets;
}

std::vector<ProtocolHandler>
ProtocolHandlers(const Node& node)
{
    std::vector<ProtocolHandler> handlers;
    for (const auto& entry : node.*Get(NodeHandlers{}))
    {
        handlers.push_back({entry.handler, entry.device, entry.protocol, entry.promiscuous});
    }
    return handlers;
}

Ptr<const Ipv4StaticRouting>
OlsrHnaTable(const olsr::RoutingProtocol& protocol)
{
    return protocol.*Get(OlsrHna{});
}

bool
VisitRoutes(const Ipv4RoutingProtocol& protocol, const RouteVisitor<Ipv4RoutingTableEntry>& visit)
{
    return VisitStatic<Ipv4StaticRouting>(protocol, Ipv4StaticTable{}, visit) ||
           VisitGlobal(protocol, visit) ||
           VisitRip<Rip>(protocol, RipTable{}, RipRoutingTableEntry::RIP_VALID, visit);
}

bool
VisitRoutes(const Ipv6RoutingProtocol& protocol, const RouteVisitor<Ipv6RoutingTableEntry>& visit)
{
    return VisitStatic<Ipv6StaticRouting>(protocol, Ipv6StaticTable{}, visit) ||
           VisitRip<RipNg>(protocol, RipNgTable{}, RipNgRoutingTableEntry::RIPNG_VALID, visit);
}

void
KeepPlacesOfRefused(Ping& ping, uint16_t sequence)
{
    auto& requests = ping.*Get(PingRequests{});
    if (requests.size() <= sequence)
    {
        // The last entry is the request that was just sent. Copies of this entry fill the list up
        // to the request's sequence number. Requests that the socket refused get no answer, so the
        // content of their entries does not matter.
        requests.resize(sequence + size_t{1}, requests.back());
    }
}

void
LeaveOutReport(Ping& ping)
{
    ping.*Get(PingReported{}) = true;
}

void
SetConnectionFailed(Socket& socket, Callback<void, Ptr<Socket>> failed)
{
    socket.SetConnectCallback(socket.*Get(SocketConnected{}), failed);
}

void
ProbeOnlyWithData(Ptr<Socket> socket)
{
    if (Ptr<TcpSocketBase> tcp = DynamicCast<TcpSocketBase>(socket))
    {
        TakePersistEvent(PeekPointer(tcp));
    }
}

void
TraceDrop(ArpCache& cache, Ptr<const Packet> packet)
{
    (cache.*Get(ArpDrops()))(packet);
}

std::optional<uint64_t>
NextEventTime()
{
    auto simulator = DynamicCast<DefaultSimulatorImpl>(Simulator::GetImplementation());
    if (!simulator)
    {
        return std::nullopt;
    }
    const Ptr<Scheduler>& events = PeekPointer(simulator)->*Get(SimulatorEvents{});
    return events->IsEmpty() ? std::numeric_limits<uint64_t>::max() : events->PeekNext().key.m_ts;
}

} // namespace ns3::ns3access
