/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "route-source.h"

#include "ns3/ns3-access.h"
#include "ns3/poll-phase.h"
#include "ns3/wire-conversion.h"

#include "ns3/ipv4-list-routing.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-static-routing.h"
#include "ns3/ipv6-list-routing.h"
#include "ns3/ipv6-route.h"
#include "ns3/log.h"
#include "ns3/loopback-net-device.h"
#include "ns3/names.h"
#include "ns3/olsr-routing-protocol.h"
#include "ns3/output-stream-wrapper.h"
#include "ns3/simulator.h"

#include "base/clock.h"
#include "base/error.h"

#include <algorithm>
#include <set>
#include <sstream>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RouteSource");

NS_OBJECT_ENSURE_REGISTERED(RouteSource);

using viaduct::fib::RouteKey;
using viaduct::fib::RouteTable;
using viaduct::wire::Family;
using viaduct::wire::IpAddress;
using viaduct::wire::IpPrefix;
using wireconversion::ToIpv4;
using wireconversion::ToIpv6;
using wireconversion::ToWire;

namespace
{

IpPrefix
DestinationOf(const Ipv4RoutingTableEntry& route)
{
    return IpPrefix{ToWire(route.GetDest()), route.GetDestNetworkMask().GetPrefixLength()}
        .Network();
}

IpPrefix
DestinationOf(const Ipv6RoutingTableEntry& route)
{
    return IpPrefix{ToWire(route.GetDest()), route.GetDestNetworkPrefix().GetPrefixLength()}
        .Network();
}

/** @return the addresses of an interface, with their prefix lengths */
std::vector<IpPrefix>
AddressesOf(Ptr<Ipv4> ip, uint32_t interface)
{
    std::vector<IpPrefix> addresses;
    for (uint32_t i = 0; i < ip->GetNAddresses(interface); i++)
    {
        const Ipv4InterfaceAddress address = ip->GetAddress(interface, i);
        addresses.push_back({ToWire(address.GetLocal()), address.GetMask().GetPrefixLength()});
    }
    return addresses;
}

/** @copydoc AddressesOf(Ptr<Ipv4>,uint32_t) */
std::vector<IpPrefix>
AddressesOf(Ptr<Ipv6> ip, uint32_t interface)
{
    std::vector<IpPrefix> addresses;
    for (uint32_t i = 0; i < ip->GetNAddresses(interface); i++)
    {
        const Ipv6InterfaceAddress address = ip->GetAddress(interface, i);
        addresses.push_back({ToWire(address.GetAddress()), address.GetPrefix().GetPrefixLength()});
    }
    return addresses;
}

/** The interface a printed route names: by index, device name, or one of its addresses. */
template <class Ip>
int32_t
FindInterface(Ptr<Ip> ip, const std::string& text)
{
    if (!text.empty() && std::all_of(text.begin(), text.end(), ::isdigit))
    {
        const auto index = static_cast<uint32_t>(std::stoul(text));
        return index < ip->GetNInterfaces() ? static_cast<int32_t>(index) : -1;
    }
    for (uint32_t i = 0; i < ip->GetNInterfaces(); i++)
    {
        if (Names::FindName(ip->GetNetDevice(i)) == text)
        {
            return static_cast<int32_t>(i);
        }
        for (const IpPrefix& address : AddressesOf(ip, i))
        {
            if (address.address.ToString() == text)
            {
                return static_cast<int32_t>(i);
            }
        }
    }
    return -1;
}

/** What RouteOutput() answers: gateway and interface. */
struct Answer
{
    IpAddress gateway;
    int32_t interface {
        - 1
    }; //!< -1: no route, or through the loopback device
};

Answer
Query(Ptr<Ipv4> ip, Ptr<Ipv4RoutingProtocol> protocol, const IpAddress& destination)
{
    Ipv4Header header;
    header.SetDestination(ToIpv4(destination));
    Socket::SocketErrno error;
    Ptr<Ipv4Route> route = protocol->RouteOutput(nullptr, header, nullptr, error);
    if (!route || DynamicCast<LoopbackNetDevice>(route->GetOutputDevice()))
    {
        return {};
    }
    return {ToWire(route->GetGateway()), ip->GetInterfaceForDevice(route->GetOutputDevice())};
}

Answer
Query(Ptr<Ipv6> ip, Ptr<Ipv6RoutingProtocol> protocol, const IpAddress& destination)
{
    Ipv6Header header;
    header.SetDestination(ToIpv6(destination));
    Socket::SocketErrno error;
    Ptr<Ipv6Route> route = protocol->RouteOutput(nullptr, header, nullptr, error);
    if (!route || DynamicCast<LoopbackNetDevice>(route->GetOutputDevice()))
    {
        return {};
    }
    return {ToWire(route->GetGateway()), ip->GetInterfaceForDevice(route->GetOutputDevice())};
}

Family
FamilyOf(Ptr<Ipv4>)
{
    return Family::kIpv4;
}

Family
FamilyOf(Ptr<Ipv6>)
{
    return Family::kIpv6;
}

bool
IsLinkLocal(const IpAddress& address)
{
    return address.family == Family::kIpv6
               ? address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80
               : false;
}

bool
IsLoopback(const IpAddress& address)
{
    return address.family == Family::kIpv4 ? address.bytes[0] == 127
                                           : address == IpAddress::Parse("::1");
}

/** @return whether the kernel has this by itself, or it is no unicast route at all */
template <class Ip>
bool
IsKernelsOwn(Ptr<Ip> ip, const IpPrefix& destination, const IpAddress& gateway, uint32_t interface)
{
    const IpAddress& network = destination.address;
    if (network.IsMulticast() || IsLinkLocal(network) || IsLoopback(network))
    {
        return true;
    }
    for (uint32_t i = 0; i < ip->GetNInterfaces(); i++)
    {
        for (const IpPrefix& own : AddressesOf(ip, i))
        {
            const bool host = destination.length == own.address.Length() * 8;
            if (host && network == own.address)
            {
                return true;
            }
            IpAddress broadcast = own.address;
            for (int bit = own.length; bit < 32; bit++)
            {
                broadcast.bytes[bit / 8] |= 0x80 >> (bit % 8);
            }
            if (host && network.family == Family::kIpv4 && own.length < 31 && network == broadcast)
            {
                return true;
            }
            if (i == interface && gateway.IsUnspecified() && own.Network() == destination)
            {
                return true;
            }
        }
    }
    return false;
}

bool
Covers(const IpPrefix& wide, const IpPrefix& narrow)
{
    return wide.length <= narrow.length && wide.Contains(narrow.address);
}

bool
HasTraceSource(Ptr<Object> object, const std::string& name)
{
    return object->GetInstanceTypeId().LookupTraceSourceByName(name) != nullptr;
}

} // namespace

TypeId
RouteSource::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RouteSource")
            .SetParent<Object>()
            .SetGroupName("Viaduct")
            .AddConstructor<RouteSource>()
            .AddAttribute("PollInterval",
                          "How often a protocol without trace sources is asked for its routes.",
                          TimeValue(MilliSeconds(100)),
                          MakeTimeAccessor(&RouteSource::m_pollInterval),
                          MakeTimeChecker(MicroSeconds(1)))
            .AddTraceSource("Pushed",
                            "Changes were handed to the kernel.",
                            MakeTraceSourceAccessor(&RouteSource::m_pushedTrace),
                            "ns3::RouteSource::PushedTracedCallback")
            .AddTraceSource("Refused",
                            "The kernel refused a route.",
                            MakeTraceSourceAccessor(&RouteSource::m_refusedTrace),
                            "ns3::RouteSource::RefusedTracedCallback");
    return tid;
}

RouteSource::RouteSource() = default;
RouteSource::~RouteSource() = default;

void
RouteSource::SetNode(Ptr<Node> node, const std::map<Ptr<NetDevice>, std::string>& names)
{
    m_node = node;
    m_names = names;
}

void
RouteSource::SetApply(Apply apply)
{
    m_apply = std::move(apply);
}

void
RouteSource::SetKnownAddresses(const std::vector<IpAddress>& addresses)
{
    m_known = addresses;
}

const RouteSource::Counters&
RouteSource::GetCounters() const
{
    return m_counters;
}

bool
RouteSource::IsPolling() const
{
    return m_polling;
}

void
RouteSource::DoDispose()
{
    m_update.Cancel();
    m_poll.Cancel();
    m_apply = nullptr;
    m_node = nullptr;
    m_names.clear();
    m_pushed.clear();
    Object::DoDispose();
}

std::vector<Ptr<Ipv4RoutingProtocol>>
RouteSource::Ipv4Protocols() const
{
    Ptr<Ipv4> ip = m_node->GetObject<Ipv4>();
    std::vector<Ptr<Ipv4RoutingProtocol>> protocols;
    Ptr<Ipv4RoutingProtocol> top = ip ? ip->GetRoutingProtocol() : nullptr;
    if (auto list = DynamicCast<Ipv4ListRouting>(top))
    {
        for (uint32_t i = 0; i < list->GetNRoutingProtocols(); i++)
        {
            int16_t priority;
            protocols.push_back(list->GetRoutingProtocol(i, priority)); // highest first
        }
    }
    else if (top)
    {
        protocols.push_back(top);
    }
    return protocols;
}

std::vector<Ptr<Ipv6RoutingProtocol>>
RouteSource::Ipv6Protocols() const
{
    Ptr<Ipv6> ip = m_node->GetObject<Ipv6>();
    std::vector<Ptr<Ipv6RoutingProtocol>> protocols;
    Ptr<Ipv6RoutingProtocol> top = ip ? ip->GetRoutingProtocol() : nullptr;
    if (auto list = DynamicCast<Ipv6ListRouting>(top))
    {
        for (uint32_t i = 0; i < list->GetNRoutingProtocols(); i++)
        {
            int16_t priority;
            protocols.push_back(list->GetRoutingProtocol(i, priority));
        }
    }
    else if (top)
    {
        protocols.push_back(top);
    }
    return protocols;
}

void
RouteSource::Start()
{
    for (const auto& protocol : Ipv4Protocols())
    {
        Connect(protocol, Family::kIpv4);
    }
    for (const auto& protocol : Ipv6Protocols())
    {
        Connect(protocol, Family::kIpv6);
    }
    ScheduleUpdate();
    if (m_polling)
    {
        m_poll =
            Simulator::Schedule(PollPhase(m_node, m_pollInterval, 1), &RouteSource::Poll, this);
    }
}

void
RouteSource::Connect(Ptr<Object> protocol, Family family)
{
    if (DynamicCast<olsr::RoutingProtocol>(protocol))
    {
        protocol->TraceConnectWithoutContext("RoutingTableChanged",
                                             MakeCallback(&RouteSource::TableChanged, this));
    }
    else if (!ConnectPush(protocol, family))
    {
        m_polling = true;
    }
}

bool
RouteSource::ConnectPush(Ptr<Object> protocol, Family family)
{
    auto connect = [&]<class Entry>(Entry*) {
        auto store = [this, self = Ptr<RouteSource>(this), protocol](const Entry& route) {
            m_pushed[protocol][DestinationOf(route)] = {
                DestinationOf(route), ToWire(route.GetGateway()), route.GetInterface(), 0};
        };
        bool any = false;
        if (HasTraceSource(protocol, "RouteAdded"))
        {
            any = protocol->TraceConnectWithoutContext(
                "RouteAdded", Callback<void, const Entry&>([this, store](const Entry& route) {
                    store(route);
                    ScheduleUpdate();
                }));
        }
        if (HasTraceSource(protocol, "RouteRemoved"))
        {
            any |= protocol->TraceConnectWithoutContext(
                "RouteRemoved",
                Callback<void, const Entry&>([this, store, protocol](const Entry& route) {
                    m_pushed[protocol].erase(DestinationOf(route));
                    ScheduleUpdate();
                }));
        }
        if (HasTraceSource(protocol, "RoutingTableUpdated"))
        {
            any |= protocol->TraceConnectWithoutContext(
                "RoutingTableUpdated",
                Callback<void, const std::vector<Entry>&>(
                    [this, store, protocol](const std::vector<Entry>& routes) {
                        m_pushed[protocol].clear();
                        std::for_each(routes.begin(), routes.end(), store);
                        ScheduleUpdate();
                    }));
        }
        return any;
    };
    const bool any = family == Family::kIpv4
                         ? connect(static_cast<Ipv4RoutingTableEntry*>(nullptr))
                         : connect(static_cast<Ipv6RoutingTableEntry*>(nullptr));
    if (any)
    {
        m_pushed[protocol]; // from now on what it pushes is its table
    }
    return any;
}

void
RouteSource::RouteAdded(const Ipv4RoutingTableEntry& route)
{
    m_pushed[nullptr][DestinationOf(route)] = {
        DestinationOf(route), ToWire(route.GetGateway()), route.GetInterface(), 0};
    ScheduleUpdate();
}

void
RouteSource::RouteAdded(const Ipv6RoutingTableEntry& route)
{
    m_pushed[nullptr][DestinationOf(route)] = {
        DestinationOf(route), ToWire(route.GetGateway()), route.GetInterface(), 0};
    ScheduleUpdate();
}

void
RouteSource::RouteRemoved(const Ipv4RoutingTableEntry& route)
{
    m_pushed[nullptr].erase(DestinationOf(route));
    ScheduleUpdate();
}

void
RouteSource::RouteRemoved(const Ipv6RoutingTableEntry& route)
{
    m_pushed[nullptr].erase(DestinationOf(route));
    ScheduleUpdate();
}

void
RouteSource::RoutingTableUpdated(const std::vector<Ipv4RoutingTableEntry>& routes)
{
    std::erase_if(m_pushed[nullptr],
                  [](const auto& item) { return item.first.address.family == Family::kIpv4; });
    for (const auto& route : routes)
    {
        RouteAdded(route);
    }
    ScheduleUpdate();
}

void
RouteSource::RoutingTableUpdated(const std::vector<Ipv6RoutingTableEntry>& routes)
{
    std::erase_if(m_pushed[nullptr],
                  [](const auto& item) { return item.first.address.family == Family::kIpv6; });
    for (const auto& route : routes)
    {
        RouteAdded(route);
    }
    ScheduleUpdate();
}

void
RouteSource::TableChanged(uint32_t)
{
    ScheduleUpdate();
}

void
RouteSource::ScheduleUpdate()
{
    // Protocols fire several times while they handle one message: one push for all of them.
    if (m_node && !m_update.IsPending())
    {
        m_update = Simulator::ScheduleNow(&RouteSource::Update, this);
    }
}

void
RouteSource::Poll()
{
    Update();
    m_poll = Simulator::Schedule(m_pollInterval, &RouteSource::Poll, this);
}

void
RouteSource::Update()
{
    if (m_node)
    {
        ApplyDifference(Collect());
    }
}

std::vector<RouteSource::Candidate>
RouteSource::OlsrCandidates(const olsr::RoutingProtocol& protocol) const
{
    std::vector<Candidate> candidates;
    for (const auto& entry : protocol.GetRoutingTableEntries())
    {
        candidates.push_back({{ToWire(entry.destAddr), 32},
                              ToWire(entry.nextAddr),
                              entry.interface,
                              entry.distance});
    }
    Ptr<const Ipv4StaticRouting> hna = ns3access::OlsrHnaTable(protocol);
    for (uint32_t i = 0; i < hna->GetNRoutes(); i++)
    {
        const Ipv4RoutingTableEntry route = hna->GetRoute(i);
        candidates.push_back({DestinationOf(route),
                              ToWire(route.GetGateway()),
                              route.GetInterface(),
                              hna->GetMetric(i)});
    }
    return candidates;
}

template <class Ip, class Protocol>
std::vector<RouteSource::Candidate>
RouteSource::PrintedCandidates(Ptr<Ip> ip, Ptr<Protocol> protocol) const
{
    std::ostringstream text;
    protocol->PrintRoutingTable(Create<OutputStreamWrapper>(&text), Time::S);
    const PrintedTable table = ParseRoutingTable(text.str());
    if (!table.recognized)
    {
        return QueriedCandidates(ip, protocol);
    }
    std::vector<Candidate> candidates;
    for (const PrintedRoute& route : table.routes)
    {
        const int32_t interface = FindInterface(ip, route.interface);
        if (interface >= 0 && route.destination.address.family == FamilyOf(ip))
        {
            candidates.push_back(
                {route.destination, route.gateway, static_cast<uint32_t>(interface), route.metric});
        }
    }
    return candidates;
}

template <class Ip, class Protocol>
std::vector<RouteSource::Candidate>
RouteSource::QueriedCandidates(Ptr<Ip> ip, Ptr<Protocol> protocol) const
{
    std::vector<Candidate> candidates;
    for (const IpAddress& address : m_known)
    {
        if (address.family != FamilyOf(ip))
        {
            continue;
        }
        const Answer answer = Query(ip, protocol, address);
        if (answer.interface >= 0)
        {
            candidates.push_back({{address, address.Length() * 8},
                                  answer.gateway,
                                  static_cast<uint32_t>(answer.interface),
                                  0});
        }
    }
    return candidates;
}

std::vector<RouteSource::Candidate>
RouteSource::CandidatesOf(Ptr<Ipv4RoutingProtocol> protocol) const
{
    auto pushed = m_pushed.find(protocol);
    if (pushed != m_pushed.end())
    {
        std::vector<Candidate> candidates;
        for (const auto& [destination, candidate] : pushed->second)
        {
            candidates.push_back(candidate);
        }
        return candidates;
    }
    if (auto olsr = DynamicCast<olsr::RoutingProtocol>(protocol))
    {
        return OlsrCandidates(*olsr);
    }
    return PrintedCandidates(m_node->GetObject<Ipv4>(), protocol);
}

std::vector<RouteSource::Candidate>
RouteSource::CandidatesOf(Ptr<Ipv6RoutingProtocol> protocol) const
{
    auto pushed = m_pushed.find(protocol);
    if (pushed != m_pushed.end())
    {
        std::vector<Candidate> candidates;
        for (const auto& [destination, candidate] : pushed->second)
        {
            candidates.push_back(candidate);
        }
        return candidates;
    }
    return PrintedCandidates(m_node->GetObject<Ipv6>(), protocol);
}

template <class Ip, class Protocol>
void
RouteSource::KeepBest(Ptr<Ip> ip, Ptr<Protocol> protocol, std::vector<Candidate>& candidates) const
{
    std::map<IpPrefix, Candidate> best;
    std::set<IpPrefix> tied;
    for (const Candidate& candidate : candidates)
    {
        auto [found, inserted] = best.emplace(candidate.destination, candidate);
        if (inserted || candidate.metric > found->second.metric)
        {
            continue;
        }
        if (candidate.metric < found->second.metric)
        {
            found->second = candidate;
            tied.erase(candidate.destination);
        }
        else
        {
            tied.insert(candidate.destination);
        }
    }
    // Protocols differ in which of two equal routes they take: ask.
    for (const IpPrefix& destination : tied)
    {
        const Answer answer = Query(ip, protocol, destination.address);
        for (const Candidate& candidate : candidates)
        {
            if (candidate.destination == destination && candidate.gateway == answer.gateway &&
                candidate.metric == best[destination].metric &&
                static_cast<int32_t>(candidate.interface) == answer.interface)
            {
                best[destination] = candidate;
            }
        }
    }
    candidates.clear();
    for (const auto& [destination, candidate] : best)
    {
        candidates.push_back(candidate);
    }
}

template <class Ip>
void
RouteSource::Mirror(Ptr<Ip> ip,
                    const std::vector<std::vector<Candidate>>& protocols,
                    RouteTable& table)
{
    std::vector<IpPrefix> above; // what protocols of higher priority cover
    for (const auto& candidates : protocols)
    {
        std::vector<IpPrefix> here;
        for (const Candidate& candidate : candidates)
        {
            const IpPrefix& destination = candidate.destination;
            const bool hidden = std::any_of(above.begin(), above.end(), [&](const IpPrefix& wide) {
                return Covers(wide, destination);
            });
            if (hidden || candidate.interface >= ip->GetNInterfaces() ||
                !ip->IsUp(candidate.interface) ||
                IsKernelsOwn(ip, destination, candidate.gateway, candidate.interface))
            {
                continue;
            }
            auto name = m_names.find(ip->GetNetDevice(candidate.interface));
            if (name == m_names.end())
            {
                m_counters.unmapped++;
                continue;
            }
            viaduct::fib::Route route{destination, candidate.gateway, name->second, 0};
            if (route.gateway == destination.address &&
                destination.length == route.gateway.Length() * 8)
            {
                route.gateway = IpAddress{destination.address.family, {}}; // a neighbour: on link
            }
            table[RouteKey{destination, 0}] = route;
            here.push_back(destination);
        }
        above.insert(above.end(), here.begin(), here.end());
    }
}

RouteTable
RouteSource::Collect()
{
    RouteTable table;
    auto collect = [&](auto ip, const auto& list) {
        if (!ip)
        {
            return;
        }
        std::vector<std::vector<Candidate>> protocols;
        auto direct = m_pushed.find(nullptr);
        if (direct != m_pushed.end())
        {
            protocols.emplace_back();
            for (const auto& [destination, candidate] : direct->second)
            {
                if (destination.address.family == FamilyOf(ip))
                {
                    protocols.back().push_back(candidate);
                }
            }
        }
        for (const auto& protocol : list)
        {
            protocols.push_back(CandidatesOf(protocol));
            KeepBest(ip, protocol, protocols.back());
        }
        Mirror(ip, protocols, table);
    };
    collect(m_node->GetObject<Ipv4>(), Ipv4Protocols());
    collect(m_node->GetObject<Ipv6>(), Ipv6Protocols());
    return table;
}

void
RouteSource::ApplyDifference(const RouteTable& wanted)
{
    const auto changes = viaduct::fib::Difference(m_installed, wanted);
    if (changes.empty() || !m_apply)
    {
        return;
    }
    NS_LOG_INFO("node " << m_node->GetId() << ": " << changes.added.size() << " routes added, "
                        << changes.replaced.size() << " replaced, " << changes.removed.size()
                        << " removed");
    const auto start = viaduct::MonotonicClock::Now();
    try
    {
        m_apply(changes);
    }
    catch (const viaduct::Error& error)
    {
        // All others were applied; the refused ones are tried again when they change.
        NS_LOG_WARN("node " << m_node->GetId() << ": " << error.what());
        m_counters.refused++;
        m_refusedTrace(m_node->GetId(), error.what());
    }
    m_counters.nanoseconds += (viaduct::MonotonicClock::Now() - start).nanoseconds();
    m_counters.batches++;
    m_counters.added += changes.added.size();
    m_counters.replaced += changes.replaced.size();
    m_counters.removed += changes.removed.size();
    m_installed = wanted;
    m_pushedTrace(m_node->GetId(), static_cast<uint32_t>(changes.size()));
}

} // namespace ns3
