/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3-access.h"

#include "ns3/abort.h"
#include "ns3/default-simulator-impl.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-raw-socket-impl.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/object-map.h"
#include "ns3/olsr-routing-protocol.h"
#include "ns3/scheduler.h"
#include "ns3/simulator.h"

#include <limits>
#include <list>
#include <map>
#include <type_traits>
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

/** The member of each name, of the type it is used as; NodeHandlers' type is checked below. */
constexpr ReverseMap Ipv4L3Protocol::*Get(Ipv4ReverseMap);
constexpr ReverseMap Ipv6L3Protocol::*Get(Ipv6ReverseMap);
constexpr std::list<Ptr<Ipv4RawSocketImpl>> Ipv4L3Protocol::*Get(Ipv4RawSockets);
constexpr std::list<Ptr<Ipv6RawSocketImpl>> Ipv6L3Protocol::*Get(Ipv6RawSockets);
constexpr Ptr<Ipv4StaticRouting> olsr::RoutingProtocol::*Get(OlsrHna);
constexpr Ptr<Scheduler> DefaultSimulatorImpl::*Get(SimulatorEvents);

struct NodeHandlers
{
    friend constexpr auto Get(NodeHandlers);
};

/**
 * Defines Get(Name), which returns the pointer to member given in an explicit instantiation. Does
 * not compile where the member's type is another than declared above: adapt ns3-access then.
 */
template <typename Name, auto Member>
struct Grant
{
    friend constexpr decltype(Member) Get(Name)
    {
        return Member;
    }
};

/** The same for a member whose type has no name outside of its class. */
template <auto Member>
struct Grant<NodeHandlers, Member>
{
    friend constexpr auto Get(NodeHandlers)
    {
        return Member;
    }
};

template struct Grant<Ipv4ReverseMap, &Ipv4L3Protocol::m_reverseInterfacesContainer>;
template struct Grant<Ipv6ReverseMap, &Ipv6L3Protocol::m_reverseInterfacesContainer>;
template struct Grant<Ipv4RawSockets, &Ipv4L3Protocol::m_sockets>;
template struct Grant<Ipv6RawSockets, &Ipv6L3Protocol::m_sockets>;
template struct Grant<NodeHandlers, &Node::m_handlers>;
template struct Grant<OlsrHna, &olsr::RoutingProtocol::m_hnaRoutingTable>;
template struct Grant<SimulatorEvents, &DefaultSimulatorImpl::m_events>;

using HandlerEntry =
    std::remove_cvref_t<decltype((std::declval<const Node&>().*Get(NodeHandlers{})).front())>;
static_assert(std::is_same_v<decltype(HandlerEntry::handler), Node::ProtocolHandler> &&
                  std::is_same_v<decltype(HandlerEntry::device), Ptr<NetDevice>> &&
                  std::is_same_v<decltype(HandlerEntry::protocol), uint16_t> &&
                  std::is_same_v<decltype(HandlerEntry::promiscuous), bool>,
              "Node::ProtocolHandlerEntry changed: adapt ns3-access");

void
Replace(ReverseMap& map, Ptr<NetDevice> oldDevice, Ptr<NetDevice> newDevice)
{
    auto found = map.find(oldDevice);
    NS_ABORT_MSG_IF(found == map.end(), "the device to replace has no IP interface");
    const uint32_t interface = found->second;
    map.erase(found);
    map[newDevice] = interface;
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
        // ipv6-raw-socket-impl.h is not a public header of ns-3. The class derives from Socket
        // alone (src/internet/model/ipv6-raw-socket-impl.h), so the base is at its very start.
        sockets.emplace_back(reinterpret_cast<Socket*>(PeekPointer(socket)));
    }
    return sockets;
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
