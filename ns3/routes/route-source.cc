/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/routes/route-source.h"

#include "ns3/routes/protocol-traits.h"
#include "ns3/routes/route-merger.h"

#include "ns3/base/poll-phase.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RouteSource");

NS_OBJECT_ENSURE_REGISTERED(RouteSource);

namespace
{

/** @return whether a protocol's table has a route for a destination */
bool
Covers(RouteReader& reader, const viaduct::wire::IpAddress& destination)
{
    const auto routes = reader.Read();
    return std::any_of(routes.begin(), routes.end(), [&](const RouteCandidate& route) {
        return route.destination.Contains(destination);
    });
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
                          "The interval at which the routes of a routing protocol that does not "
                          "report route changes by trace sources are read.",
                          TimeValue(MilliSeconds(100)),
                          MakeTimeAccessor(&RouteSource::m_pollInterval),
                          MakeTimeChecker(MicroSeconds(1)))
            .AddAttribute("RetryInterval",
                          "The time after which routes that the data plane refused are tried "
                          "again, unless routes change earlier.",
                          TimeValue(Seconds(1)),
                          MakeTimeAccessor(&RouteSource::m_retryInterval),
                          MakeTimeChecker(MicroSeconds(1)))
            .AddAttribute("DecisionTimeout",
                          "The time after which a route that was taken from a protocol's decision "
                          "about a packet is removed if no packet uses the route.",
                          TimeValue(Seconds(3)),
                          MakeTimeAccessor(&RouteSource::m_decisionTimeout),
                          MakeTimeChecker(MilliSeconds(1)))
            .AddTraceSource("Pushed",
                            "Route changes were passed to the data plane. Arguments: the node, the "
                            "number of changes.",
                            MakeTraceSourceAccessor(&RouteSource::m_pushedTrace),
                            "ns3::RouteSource::PushedTracedCallback")
            .AddTraceSource("Changed",
                            "Route changes were passed to the data plane, which may have refused "
                            "changes. Argument: the changes.",
                            MakeTraceSourceAccessor(&RouteSource::m_changedTrace),
                            "ns3::RouteSource::ChangedTracedCallback")
            .AddTraceSource("Refused",
                            "The data plane refused a route. Arguments: the node, the message.",
                            MakeTraceSourceAccessor(&RouteSource::m_refusedTrace),
                            "ns3::RouteSource::RefusedTracedCallback");
    return tid;
}

void
RouteSource::SetNode(Ptr<Node> node, const std::map<Ptr<NetDevice>, std::string>& names)
{
    m_node = node;
    m_names = names;
}

void
RouteSource::SetSink(std::shared_ptr<viaduct::fib::RouteSink> sink)
{
    m_mirror = std::make_unique<viaduct::fib::RouteMirror>(std::move(sink));
}

void
RouteSource::Hold(viaduct::fib::RouteTable routes)
{
    m_mirror->Adopt(std::move(routes));
    m_held = true;
}

void
RouteSource::Release()
{
    if (m_held)
    {
        m_held = false;
        Update();
    }
}

RouteSource::Counters
RouteSource::GetCounters() const
{
    Counters counters = m_counters;
    if (m_mirror)
    {
        static_cast<viaduct::fib::RouteCounters&>(counters) = m_mirror->sink().counters();
    }
    return counters;
}

void
RouteSource::DoDispose()
{
    m_update.Cancel();
    m_poll.Cancel();
    m_retry.Cancel();
    m_node = nullptr;
    m_names.clear();
    m_readers.clear();
    m_goesUp = nullptr;
    m_mirror = nullptr;
    Object::DoDispose();
}

void
RouteSource::Start()
{
    Connect<ipfamily::V4>();
    Connect<ipfamily::V6>();
    ScheduleUpdate();
    if (m_polling)
    {
        if (m_budget)
        {
            m_budget->Join();
        }
        m_poll =
            Simulator::Schedule(PollPhase(m_node, m_pollInterval, 1), &RouteSource::Poll, this);
    }
}

template <class Family>
void
RouteSource::Connect()
{
    const auto changed = [self = Ptr<RouteSource>(this)] { self->ScheduleUpdate(); };
    const auto ip = m_node->GetObject<typename Family::Layer>();
    for (const auto& protocol : ipfamily::ProtocolsOf<Family>(ip))
    {
        const bool goesUp = m_goesUp && m_goesUp(Family::FAMILY);
        auto reader = MakeRouteReader<Family>(
            ip, protocol, {.known = m_known, .samples = true, .asksUnknown = !goesUp});
        if (!reader->Watch(changed))
        {
            auto pushed = std::make_shared<PushedRoutes<Family>>(protocol);
            const bool pushes = pushed->Watch(changed);
            m_polling |= !pushes;
            if (pushes)
            {
                reader = pushed; // the pushed routes replace the protocol's table
            }
        }
        m_readers[protocol] = reader;
    }
}

void
RouteSource::ScheduleUpdate()
{
    // The update is scheduled, because a protocol reports several changes while it handles one
    // message: one update is enough for all of them.
    if (m_node && !m_update.IsPending())
    {
        m_update = Simulator::ScheduleNow(&RouteSource::Update, this);
    }
}

void
RouteSource::RequestUpdate()
{
    const Time due = m_updated + MilliSeconds(1);
    if (m_node && !m_update.IsPending())
    {
        m_update = Simulator::Schedule(
            std::max(due - Simulator::Now(), Time(0)), &RouteSource::Update, this);
    }
}

void
RouteSource::Poll()
{
    if (!m_mirror)
    {
        return;
    }
    Time interval = m_pollInterval;
    const auto now = [this] { return m_budget ? m_budget->Now() : viaduct::Instant(); };
    const viaduct::Instant start = now();
    const bool isChanged = Refresh();
    if (m_budget)
    {
        const viaduct::Duration cost = now() - start;
        m_counters.pollCost += cost;
        interval = std::max(interval, m_budget->ShortestInterval(cost));
    }
    m_counters.polls++;
    m_counters.pollIntervals += interval;
    if (isChanged || !m_refusal.empty())
    {
        Apply();
    }
    m_poll = Simulator::Schedule(interval, &RouteSource::Poll, this);
}

template <class Family>
RouteSource::Input
RouteSource::Read(RouteReader& direct)
{
    Input input;
    const auto ip = m_node->GetObject<typename Family::Layer>();
    if (!ip)
    {
        return input;
    }
    for (uint32_t i = 0; i < ip->GetNInterfaces(); i++)
    {
        input.interfaces.emplace_back(ip->IsUp(i), ipfamily::AddressesOf(ip, i));
    }
    const bool goesUp = m_goesUp && m_goesUp(Family::FAMILY);
    bool isAbove = goesUp; // whether all protocols so far have tables, and need no packets
    input.routes.push_back(direct.Read());
    for (const auto& protocol : ipfamily::ProtocolsOf<Family>(ip))
    {
        // A protocol has no reader before Start(), or if it was installed during the run.
        const auto known = m_readers.find(protocol);
        const auto reader =
            known != m_readers.end()
                ? known->second
                : MakeRouteReader<Family>(ip, protocol, {.known = m_known, .asksUnknown = !goesUp});
        const auto routes = reader->Read();
        const bool isComplete = reader->WhyIncomplete().empty();
        input.routes.push_back(isComplete || !goesUp ? routes : std::vector<RouteCandidate>());
        input.connected = isAbove ? input.routes.size() : input.connected;
        const RouteFinding finding = TraitsOf(protocol).finding;
        isAbove &= finding == RouteFinding::TABLE;
        if (goesUp && finding == RouteFinding::UNKNOWN)
        {
            input.routes.push_back(TakeDecisions<Family>());
            break;
        }
    }
    return input;
}

template <class Family>
std::vector<RouteCandidate>
RouteSource::TakeDecisions()
{
    const Time now = Simulator::Now();
    std::vector<RouteCandidate> routes;
    std::erase_if(m_decisions,
                  [&](const auto& entry) { return now - entry.second.second > m_decisionTimeout; });
    for (const auto& [destination, decision] : m_decisions)
    {
        if (destination.family == Family::FAMILY)
        {
            routes.push_back(decision.first);
        }
    }
    return routes;
}

template <class Family>
void
RouteSource::Merge(const Input& input)
{
    if (input.routes.empty())
    {
        return;
    }
    RouteMerger<Family> merger(m_node->GetObject<typename Family::Layer>(), m_names);
    for (const auto& routes : input.routes)
    {
        merger.Add(routes);
    }
    m_wanted.merge(merger.GetTable(input.connected));
    m_counters.unmapped += merger.GetUnmapped();
}

void
RouteSource::Decide(const viaduct::wire::IpAddress& destination,
                    const viaduct::wire::IpAddress& gateway,
                    Ptr<NetDevice> device)
{
    if (!m_node || !m_mirror)
    {
        return;
    }
    const auto decide = [&]<class Family>(Family) {
        const auto ip = m_node->GetObject<typename Family::Layer>();
        const int32_t interface = device ? ip->GetInterfaceForDevice(device) : -1;
        const auto protocols = ipfamily::ProtocolsOf<Family>(ip);
        const auto unknown =
            std::find_if(protocols.begin(), protocols.end(), [](const auto& protocol) {
                return TraitsOf(protocol).finding == RouteFinding::UNKNOWN;
            });
        if (unknown == protocols.end())
        {
            return; // the tables of ns-3's own protocols contain the decision
        }
        // A protocol that has found no route may answer with a direct route to an address of
        // another network.
        const auto networks = interface < 0
                                  ? std::vector<viaduct::wire::IpPrefix>()
                                  : ipfamily::AddressesOf(ip, static_cast<uint32_t>(interface));
        const bool isNowhere =
            interface < 0 ||
            (gateway.IsUnspecified() &&
             std::none_of(networks.begin(), networks.end(), [&](const auto& network) {
                 return network.Contains(destination);
             }));
        if (isNowhere)
        {
            if (m_decisions.erase(destination) > 0)
            {
                RequestUpdate();
            }
            return;
        }
        DecideOn<Family>(
            *unknown,
            {{destination, destination.Length() * 8},
             gateway == destination ? viaduct::wire::IpAddress{Family::FAMILY, {}} : gateway,
             static_cast<uint32_t>(interface),
             0});
    };
    if (destination.family == viaduct::wire::Family::kIpv4)
    {
        return decide(ipfamily::V4());
    }
    decide(ipfamily::V6());
}

template <class Family>
void
RouteSource::DecideOn(Ptr<typename Family::Protocol> unknown, const RouteCandidate& decision)
{
    const viaduct::wire::IpAddress& destination = decision.destination.address;
    const auto known = m_decisions.find(destination);
    if (known != m_decisions.end() && known->second.first == decision)
    {
        known->second.second = Simulator::Now();
        return;
    }
    if (IsIn<Family>(decision, m_wanted))
    {
        return;
    }
    Refresh(); // the tables may have changed since they were read
    const auto reader = m_readers.find(unknown);
    const bool isComplete = reader != m_readers.end() && reader->second->WhyIncomplete().empty();
    if (isComplete && IsIn<Family>(decision, m_wanted))
    {
        return RequestUpdate();
    }
    // A decision that the protocol's table does not contain may be a route of a protocol of lower
    // priority.
    const bool isOfTable = isComplete && Covers(*reader->second, destination);
    if (isComplete && (isOfTable || !IsIn<Family>(decision, Below<Family>(unknown))))
    {
        reader->second->Distrust("the protocol does not route packets as its routing table says: "
                                 "the protocol sends packets to " +
                                 destination.ToString() + " via " +
                                 (decision.gateway.IsUnspecified()
                                      ? "interface "
                                      : decision.gateway.ToString() + ", interface ") +
                                 std::to_string(decision.interface));
    }
    m_decisions[destination] = {decision, Simulator::Now()};
    RequestUpdate();
}

template <class Family>
bool
RouteSource::IsIn(const RouteCandidate& decision, const viaduct::fib::RouteTable& table) const
{
    using viaduct::fib::Table;
    const viaduct::wire::IpAddress& destination = decision.destination.address;
    const auto ip = m_node->GetObject<typename Family::Layer>();
    const auto name = m_names.find(ip->GetNetDevice(decision.interface));
    for (const Table which : {Table::kPreferred, Table::kMain})
    {
        for (int length = decision.destination.length; length >= 0; length--)
        {
            const viaduct::wire::IpPrefix prefix{destination, length};
            const auto route = table.find({prefix.Network(), 0, which});
            if (route == table.end())
            {
                continue;
            }
            const auto& hops = route->second.next_hops;
            return name != m_names.end() &&
                   std::any_of(hops.begin(), hops.end(), [&](const auto& hop) {
                       return hop.interface == name->second && hop.gateway == decision.gateway;
                   });
        }
    }
    return false;
}

template <class Family>
viaduct::fib::RouteTable
RouteSource::Below(Ptr<typename Family::Protocol> unknown) const
{
    const auto ip = m_node->GetObject<typename Family::Layer>();
    RouteMerger<Family> merger(ip, m_names);
    const auto protocols = ipfamily::ProtocolsOf<Family>(ip);
    bool isBelow = false;
    for (const auto& protocol : protocols)
    {
        const auto reader = m_readers.find(protocol);
        if (isBelow && reader != m_readers.end())
        {
            merger.Add(reader->second->Read());
        }
        isBelow |= protocol == unknown;
    }
    return merger.GetTable(protocols.size());
}

std::vector<RouteSource::Reading>
RouteSource::GetReadings() const
{
    std::vector<Reading> readings;
    const auto add = [&]<class Family>(Family) {
        const auto ip = m_node ? m_node->GetObject<typename Family::Layer>() : nullptr;
        for (const auto& protocol : ipfamily::ProtocolsOf<Family>(ip))
        {
            const auto reader = m_readers.find(protocol);
            if (reader != m_readers.end())
            {
                readings.push_back({protocol->GetInstanceTypeId().GetName(),
                                    reader->second->GetMethod(),
                                    reader->second->WhyIncomplete(),
                                    reader->second->IsByTable()});
            }
        }
    };
    add(ipfamily::V4());
    add(ipfamily::V6());
    return readings;
}

bool
RouteSource::Refresh()
{
    Input input4 = Read<ipfamily::V4>(m_direct4);
    Input input6 = Read<ipfamily::V6>(m_direct6);
    m_counters.reads++;
    if (m_counters.merges > 0 && input4 == m_input4 && input6 == m_input6)
    {
        return false;
    }
    m_counters.merges++;
    m_input4 = std::move(input4);
    m_input6 = std::move(input6);
    m_wanted.clear();
    Merge<ipfamily::V4>(m_input4);
    Merge<ipfamily::V6>(m_input6);
    return true;
}

void
RouteSource::Update()
{
    if (!m_node || !m_mirror)
    {
        return;
    }
    m_updated = Simulator::Now();
    Refresh();
    Apply();
}

void
RouteSource::Apply()
{
    if (m_held)
    {
        return;
    }
    const auto taken = [this] {
        const viaduct::fib::RouteCounters& counters = m_mirror->sink().counters();
        return counters.added + counters.replaced + counters.removed;
    };
    const uint64_t before = taken();
    const viaduct::fib::RouteUpdate update = m_mirror->Update(m_wanted);
    Report(update);
    // Routes that are refused again at every update are not reported again.
    if (const uint64_t pushed = taken() - before; pushed > 0)
    {
        m_changedTrace(update.changes);
        m_pushedTrace(m_node->GetId(), static_cast<uint32_t>(pushed));
    }
}

void
RouteSource::Report(const viaduct::fib::RouteUpdate& update)
{
    const auto& [changes, refusal, refused] = update;
    if (!changes.empty())
    {
        NS_LOG_INFO("node " << m_node->GetId() << ": " << changes.added.size() << " routes added, "
                            << changes.replaced.size() << " replaced, " << changes.removed.size()
                            << " removed");
    }
    m_retry.Cancel();
    if (!refusal.empty())
    {
        // A retry is scheduled, because no other event causes a retry if the protocol reports its
        // changes and is therefore not polled.
        m_retry = Simulator::Schedule(m_retryInterval, &RouteSource::Update, this);
    }
    if (!refusal.empty() && refusal != m_refusal)
    {
        NS_LOG_WARN("node " << m_node->GetId() << ": " << refusal);
        m_refusedTrace(m_node->GetId(), refusal);
    }
    m_refusal = refusal;
    m_counters.missing = refused;
}

} // namespace ns3
