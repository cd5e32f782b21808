/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/sim/flows.h"

#include "ns3/sim/time-conversion.h"

#include "ns3/address.h"
#include "ns3/base/ip-family.h"
#include "ns3/base/ns3-access.h"
#include "ns3/base/wire-conversion.h"
#include "ns3/bulk-send-application.h"
#include "ns3/data-rate.h"
#include "ns3/enum.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/onoff-application.h"
#include "ns3/packet-sink.h"
#include "ns3/ping.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include "base/error.h"
#include "scenario/addresses.h"
#include "scenario/multicast.h"
#include "scenario/scenario.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace ns3::sim
{

using viaduct::UsageError;
using viaduct::scenario::Flow;
using viaduct::wire::Family;
using viaduct::wire::IpAddress;

namespace
{

Address
SocketAddress(const IpAddress& address, uint16_t port)
{
    if (address.family == Family::kIpv4)
    {
        return InetSocketAddress(wireconversion::ToIpv4(address), port);
    }
    return Inet6SocketAddress(wireconversion::ToIpv6(address), port);
}

/** @return whether a node would send a packet to a destination, if necessary after a search for a
 * route */
template <class Ip>
bool
HasRoute(Ptr<Node> node, const IpAddress& destination)
{
    typename Ip::Header header;
    header.SetDestination(Ip::ToAddress(destination));
    Socket::SocketErrno error;
    const auto ip = node->GetObject<typename Ip::Layer>();
    const auto routing = ip ? ip->GetRoutingProtocol() : nullptr;
    // Some routing protocols return a route only for a packet; the packet passed to RouteOutput()
    // is never sent.
    return routing && routing->RouteOutput(Create<Packet>(), header, nullptr, error);
}

/** Prevents a failed connection of a socket from being a fatal error: the socket's flow reports
 * that nothing arrived. */
void
TolerateFailure(Ptr<Socket> socket)
{
    ns3access::SetConnectionFailed(*socket, Callback<void, Ptr<Socket>>([](Ptr<Socket>) {}));
}

} // namespace

SimulatedFlow::SimulatedFlow(const viaduct::scenario::Scenario& scenario,
                             size_t index,
                             const Network& network,
                             const SimulatedFlow* stream)
    : m_flow(scenario.flows.at(index)),
      m_to(viaduct::scenario::AddressOf(scenario, m_flow)),
      m_from(viaduct::scenario::SourceOf(scenario, m_flow)),
      m_port(viaduct::scenario::PortOf(m_flow, viaduct::scenario::StreamOf(scenario, index))),
      m_begin(Simulator::Now() + ToTime(m_flow.start)),
      m_drain(viaduct::scenario::DrainOf(scenario, m_flow))
{
    Simulator::Schedule(
        ToTime(m_flow.start), &SimulatedFlow::LookForRoute, this, network.GetNode(m_flow.from));
    switch (m_flow.kind)
    {
    case Flow::Kind::kUdp:
        MakeUdp(network, stream);
        break;
    case Flow::Kind::kTcp:
        MakeTcp(network);
        break;
    case Flow::Kind::kPing:
        MakePing(network);
        break;
    }
}

int64_t
SimulatedFlow::RateOfLink(const Network& network) const
{
    for (const NetworkLink& link : network.GetLinks())
    {
        const auto& nodes = link.settings->nodes;
        const auto end = std::find(nodes.begin(), nodes.end(), m_flow.from);
        if (end == nodes.end())
        {
            continue;
        }
        if (const auto rate = Network::SpecOf(*link.settings, end - nodes.begin()).link.rate)
        {
            // The payload rate at which packets with UDP, IP and Ethernet headers fill the link.
            const int headers = 8 + (m_to.family == Family::kIpv4 ? 20 : 40) + 18;
            return *rate * m_flow.size / (m_flow.size + headers);
        }
    }
    throw UsageError("flow \"" + m_flow.name +
                     "\": the sender has no link; connect the sender "
                     "to a link");
}

void
SimulatedFlow::StartAndStop(Ptr<Application> application, Ptr<Node> node, Time grace)
{
    // ns-3 counts an application's start and stop times from its initialization, which happens when
    // the application is added to a node of a running simulation.
    application->SetStartTime(m_begin - Simulator::Now());
    application->SetStopTime(m_begin - Simulator::Now() + ToTime(m_flow.duration) + grace);
    node->AddApplication(application);
}

Ptr<Application>
SimulatedFlow::MakeSink(const char* protocol)
{
    auto sink = CreateObject<PacketSink>();
    sink->SetAttribute("Protocol", StringValue(protocol));
    sink->SetAttribute("Local", AddressValue(SocketAddress(m_to, m_port)));
    return sink;
}

Ptr<OnOffApplication>
SimulatedFlow::MakeConstantRate(int64_t rate, int size)
{
    auto source = CreateObject<OnOffApplication>();
    source->SetAttribute("DataRate", DataRateValue(DataRate(static_cast<uint64_t>(rate))));
    source->SetAttribute("PacketSize", UintegerValue(size));
    source->SetAttribute("OnTime", StringValue("ns3::ConstantRandomVariable[Constant=1e6]"));
    source->SetAttribute("OffTime", StringValue("ns3::ConstantRandomVariable[Constant=0]"));
    return source;
}

void
SimulatedFlow::SendTo(Ptr<Application> source, const char* protocol)
{
    source->SetAttribute("Protocol", StringValue(protocol));
    source->SetAttribute("Remote", AddressValue(SocketAddress(m_to, m_port)));
}

void
SimulatedFlow::MakeUdp(const Network& network, const SimulatedFlow* stream)
{
    Ptr<Application> sink = MakeSink("ns3::UdpSocketFactory");
    sink->TraceConnectWithoutContext("Rx", MakeCallback(&SimulatedFlow::ReceivedUdp, this));
    StartAndStop(sink, network.GetNode(m_flow.to), ToTime(m_drain.limit));
    if (stream)
    {
        m_udp = stream->m_udp;
        return;
    }
    m_udp = CreateObject<UdpSource>();
    m_udp->Configure(
        SocketAddress(m_to, m_port), m_flow.rate ? *m_flow.rate : RateOfLink(network), m_flow.size);
    StartAndStop(m_udp, network.GetNode(m_flow.from), Time(0));
}

void
SimulatedFlow::MakeTcp(const Network& network)
{
    constexpr const char* TCP = "ns3::TcpSocketFactory";
    constexpr int SEGMENT = 1448; // payload of a TCP segment, bytes
    Ptr<Application> sink = MakeSink(TCP);
    sink->TraceConnectWithoutContext("Rx", MakeCallback(&SimulatedFlow::ReceivedTcp, this));
    StartAndStop(sink, network.GetNode(m_flow.to), Time(0));
    Ptr<Application> source;
    std::function<Ptr<Socket>()> socket;
    if (m_flow.rate)
    {
        const auto constant = MakeConstantRate(*m_flow.rate, SEGMENT);
        socket = [constant] { return constant->GetSocket(); };
        source = constant;
    }
    else
    {
        const auto bulk = CreateObject<BulkSendApplication>();
        bulk->SetAttribute("SendSize", UintegerValue(SEGMENT));
        bulk->SetAttribute("MaxBytes", UintegerValue(0));
        socket = [bulk] { return bulk->GetSocket(); };
        source = bulk;
    }
    SendTo(source, TCP);
    if (m_from)
    {
        source->SetAttribute("Local", AddressValue(SocketAddress(*m_from, 0)));
    }
    StartAndStop(source, network.GetNode(m_flow.from), Time(0));
    // WatchConnection() must run after the event that starts the source. The source's
    // initialization, itself an event, schedules the start.
    Simulator::Schedule(m_begin - Simulator::Now(), [this, socket] {
        Simulator::ScheduleNow([this, socket] { WatchConnection(socket()); });
    });
}

void
SimulatedFlow::WatchConnection(Ptr<Socket> socket)
{
    if (!socket)
    {
        return;
    }
    if (m_flow.rate)
    {
        TolerateFailure(socket);
    }
    const auto closed = MakeCallback(&SimulatedFlow::ConnectionClosed, this);
    socket->SetCloseCallbacks(closed, closed);
}

void
SimulatedFlow::ConnectionClosed(Ptr<Socket>)
{
    if (Simulator::Now() < End() && !m_broken)
    {
        m_broken = Simulator::Now();
    }
}

void
SimulatedFlow::MakePing(const Network& network)
{
    const Address destination = m_to.family == Family::kIpv4
                                    ? Address(wireconversion::ToIpv4(m_to))
                                    : Address(wireconversion::ToIpv6(m_to));
    m_pings = viaduct::scenario::PingsOf(m_flow);
    auto ping = CreateObject<Ping>();
    ping->SetAttribute("Destination", AddressValue(destination));
    // The attribute for the source address is not set, because Ipv4RawSocketImpl::SendTo() would
    // send only through the device that has this address. If it is not set, each request has the
    // source address of the device through which the request is sent.
    ping->SetAttribute("VerboseMode", EnumValue(Ping::VerboseMode::SILENT));
    ping->SetAttribute("Interval", TimeValue(ToTime(m_flow.interval)));
    ping->SetAttribute("Size", UintegerValue(std::max(16, m_flow.size)));
    ping->SetAttribute("Count", UintegerValue(static_cast<uint32_t>(m_pings + 1)));
    ns3access::LeaveOutReport(*ping); // Result() replaces Ping's report on standard output
    m_ping = ping;
    ping->TraceConnectWithoutContext("Tx", MakeCallback(&SimulatedFlow::PingSent, this));
    ping->TraceConnectWithoutContext("Rtt", MakeCallback(&SimulatedFlow::PingAnswered, this));
    StartAndStop(ping, network.GetNode(m_flow.from), ToTime(m_drain.limit));
}

void
SimulatedFlow::LookForRoute(Ptr<Node> sender)
{
    m_hasRoute = m_to.family == Family::kIpv4 ? HasRoute<ipfamily::V4>(sender, m_to)
                                              : HasRoute<ipfamily::V6>(sender, m_to);
}

void
SimulatedFlow::ReceivedTcp(Ptr<const Packet> packet, const Address&)
{
    CountBytes(packet->GetSize());
}

void
SimulatedFlow::ReceivedUdp(Ptr<const Packet> packet, const Address&)
{
    SeqTsSizeHeader header;
    if (packet->GetSize() < header.GetSerializedSize())
    {
        return;
    }
    packet->PeekHeader(header);
    // A link may damage payloads and correct their checksums (checksum=fix). ns-3's own sink would
    // wait for as many bytes as a damaged header states.
    if (header.GetSize() != packet->GetSize() || header.GetTs() < m_begin ||
        header.GetTs() > Simulator::Now())
    {
        return;
    }
    const uint64_t number = viaduct::NearestTo(m_come.next(), header.GetSeq());
    if (m_come.Take(number) == viaduct::SequenceWindow::Arrival::kDuplicate)
    {
        m_duplicates++;
        return; // a duplicate does not replace a lost packet
    }
    m_received++;
    CountBytes(packet->GetSize());
    m_gaps.Arrived(number, (header.GetTs() - m_begin).GetSeconds());
    m_delay.Record((Simulator::Now() - header.GetTs()).GetNanoSeconds());
}

void
SimulatedFlow::CountBytes(uint32_t bytes)
{
    if (m_bytes == 0)
    {
        m_firstArrival = Simulator::Now();
        m_firstBytes = bytes;
    }
    m_lastArrival = Simulator::Now();
    m_bytes += bytes;
    m_series.Add(viaduct::Duration::Nanoseconds((Simulator::Now() - m_begin).GetNanoSeconds()),
                 bytes);
}

uint64_t
SimulatedFlow::Offered() const
{
    if (m_udp)
    {
        return m_udp->GetOffered();
    }
    if (!m_ping || Simulator::Now() < m_begin)
    {
        return 0;
    }
    // The number of requests that were due by now is computed, because Ping does not report the
    // requests that its socket refused.
    const Time interval = ToTime(m_flow.interval);
    const int64_t due = 1 + (Simulator::Now() - m_begin).GetTimeStep() / interval.GetTimeStep();
    return std::max(m_sent, std::min(m_pings, static_cast<uint64_t>(due)));
}

uint64_t
SimulatedFlow::Refused() const
{
    return m_udp ? m_udp->GetRefused() : Offered() - m_sent;
}

uint64_t
SimulatedFlow::UnderWayOrLost() const
{
    return Offered() - std::min(Offered(), Refused() + m_received);
}

Time
SimulatedFlow::End() const
{
    return m_begin + ToTime(m_flow.duration);
}

bool
SimulatedFlow::IsOver() const
{
    if (Simulator::Now() < End())
    {
        return false;
    }
    const Time quiet = Simulator::Now() - std::max(End(), m_lastArrival);
    return m_flow.kind == Flow::Kind::kTcp || UnderWayOrLost() == 0 ||
           quiet >= ToTime(m_drain.quiet) || Simulator::Now() >= End() + ToTime(m_drain.limit);
}

bool
SimulatedFlow::IsCut() const
{
    const Time last = std::min(Simulator::Now(), End() + ToTime(m_drain.limit));
    return UnderWayOrLost() > 0 && m_received > 0 && last - m_lastArrival < ToTime(m_drain.quiet);
}

void
SimulatedFlow::PingSent(uint16_t sequence, Ptr<Packet>)
{
    ns3access::KeepPlacesOfRefused(*m_ping, sequence);
    m_requests[sequence] = {Simulator::Now(), false};
    m_lastRequest = Simulator::Now();
    m_sent++;
    if (m_sent == m_pings)
    {
        // The last request has been sent, and the long interval delays a further request: Ping's
        // Count is one more than m_pings. If Count were m_pings, Ping would now close its socket
        // after twice the longest round-trip time in whole milliseconds. If this time is below
        // 1 ms, Ping would close the socket immediately.
        m_ping->SetAttribute("Interval", TimeValue(Hours(24)));
    }
}

void
SimulatedFlow::PingAnswered(uint16_t sequence, Time)
{
    // Ping's own round-trip time is wrong once its 16-bit sequence number has wrapped around.
    auto& [sent, answered] = m_requests[sequence];
    const bool isLate = Simulator::Now() > m_lastRequest + ToTime(m_drain.quiet);
    if (m_sent >= m_pings && isLate)
    {
        // The answer is too late: viaduct-load also waits no longer than m_drain.quiet after its
        // last request.
        return;
    }
    if (std::exchange(answered, true))
    {
        m_duplicates++;
        return;
    }
    const int64_t rtt = (Simulator::Now() - sent).GetNanoSeconds();
    m_received++;
    m_lastArrival = Simulator::Now();
    m_rtt.Record(rtt);
    m_rtts.Add((sent - m_begin).GetSeconds(), rtt / 1e6);
    const uint64_t number = viaduct::NearestTo(m_next, sequence);
    m_next = std::max(m_next, number + 1);
    m_gaps.Arrived(number, (sent - m_begin).GetSeconds());
}

std::vector<std::pair<double, double>>
SimulatedFlow::Throughput() const
{
    std::vector<std::pair<double, double>> samples;
    viaduct::TimeSeries series = m_series;
    // The series covers the flow's duration, or the time until now if the run was ended early.
    const int64_t until = std::max<int64_t>((Simulator::Now() - m_begin).GetNanoSeconds(), 1);
    const auto length = std::min(m_flow.duration, viaduct::Duration::Nanoseconds(until));
    series.Add(length - viaduct::Duration::Nanoseconds(1), 0);
    const double interval = series.interval().ToSeconds();
    for (const uint64_t bytes : series.counts())
    {
        samples.emplace_back((samples.size() + 1) * interval, bytes * 8.0 / interval);
    }
    return samples;
}

std::optional<double>
SimulatedFlow::Rate() const
{
    if (m_bytes == 0)
    {
        return 0.0;
    }
    // The duration of a TCP flow includes the time in which bytes arrived after the sender's end. A
    // single UDP packet has no rate.
    const bool udp = m_flow.kind == Flow::Kind::kUdp;
    const Time span = udp ? m_lastArrival - m_firstArrival
                          : std::max(std::min(End(), Simulator::Now()), m_lastArrival) - m_begin;
    const uint64_t bytes = m_bytes - (udp ? m_firstBytes : 0);
    return span > Time(0) ? std::optional(bytes * 8.0 / span.GetSeconds()) : std::nullopt;
}

std::string
SimulatedFlow::Trouble() const
{
    if (Simulator::Now() <= m_begin)
    {
        return "the flow had not begun when the run was interrupted";
    }
    const bool tcp = m_flow.kind == Flow::Kind::kTcp;
    if (m_broken && m_bytes > 0)
    {
        return "the connection ended after " +
               viaduct::FormatDuration(
                   viaduct::Duration::Nanoseconds((*m_broken - m_begin).GetNanoSeconds())) +
               ", before the end of the flow: the other end reset the connection, or TCP gave up";
    }
    const bool none = tcp ? m_bytes == 0 : m_ping && m_sent == 0;
    if (!none)
    {
        return "";
    }
    const std::string to = m_flow.to + " (" + m_to.ToString() + ")";
    return m_hasRoute ? "nothing reached " + to
                      : m_flow.from + " has no route to " + to + "; check the scenario's routing";
}

viaduct::result::FlowResult
SimulatedFlow::Result() const
{
    viaduct::result::FlowResult result;
    result.name = m_flow.name;
    result.kind = viaduct::scenario::KindName(m_flow.kind);
    result.from = m_flow.from;
    result.to = m_flow.to;
    result.group = m_flow.group;
    result.error = Trouble();
    if (!result.error.empty())
    {
        return result;
    }
    if (m_flow.kind != Flow::Kind::kTcp)
    {
        result.Count(Offered(), m_received);
        result.Repeat(m_duplicates);
        if (IsCut())
        {
            result.cut = true;
        }
        result.SetGaps(m_gaps);
    }
    result.Lose("refused", Refused());
    if (m_flow.kind == Flow::Kind::kPing)
    {
        if (m_received > 0)
        {
            result.rtt = viaduct::result::Times::Of(m_rtt);
        }
        result.SetSamples(m_rtts);
        return result;
    }
    result.rate = Rate();
    if (m_delay.Count() > 0)
    {
        result.delay = viaduct::result::Times::Of(m_delay);
    }
    result.samples = Throughput();
    return result;
}

} // namespace ns3::sim
