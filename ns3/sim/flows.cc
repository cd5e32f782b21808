/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "flows.h"

#include "time-conversion.h"

#include "ns3/address.h"
#include "ns3/boolean.h"
#include "ns3/bulk-send-application.h"
#include "ns3/data-rate.h"
#include "ns3/enum.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/onoff-application.h"
#include "ns3/packet-sink.h"
#include "ns3/ping.h"
#include "ns3/seq-ts-size-header.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/wire-conversion.h"

#include "base/error.h"
#include "scenario/addresses.h"

#include <algorithm>

namespace ns3::sim
{

using viaduct::UsageError;
using viaduct::scenario::Flow;
using viaduct::wire::Family;
using viaduct::wire::IpAddress;

namespace
{

constexpr uint16_t FIRST_PORT = 5201; // iperf3's

Address
SocketAddress(const IpAddress& address, uint16_t port)
{
    if (address.family == Family::kIpv4)
    {
        return InetSocketAddress(wireconversion::ToIpv4(address), port);
    }
    return Inet6SocketAddress(wireconversion::ToIpv6(address), port);
}

} // namespace

SimulatedFlow::SimulatedFlow(const viaduct::scenario::Scenario& scenario,
                             size_t index,
                             const Network& network)
    : m_flow(scenario.flows.at(index)),
      m_to(viaduct::scenario::AddressOf(scenario, m_flow.to)),
      m_port(static_cast<uint16_t>(FIRST_PORT + index)),
      m_begin(Simulator::Now() + ToTime(m_flow.start))
{
    switch (m_flow.kind)
    {
    case Flow::Kind::kUdp:
        MakeUdp(network);
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
            // The payload rate that fills the link, with UDP, IP and Ethernet headers.
            const int headers = 8 + (m_to.family == Family::kIpv4 ? 20 : 40) + 18;
            return *rate * m_flow.size / (m_flow.size + headers);
        }
    }
    throw UsageError("flow \"" + m_flow.name + "\": its sender has no link; connect it");
}

void
SimulatedFlow::StartAndStop(Ptr<Application> application, Ptr<Node> node, Time grace)
{
    // Times of an application count from its initialization, which happens when it is added to a
    // node of a running simulation.
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
    sink->TraceConnectWithoutContext("Rx", MakeCallback(&SimulatedFlow::Received, this));
    return sink;
}

Ptr<Application>
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
SimulatedFlow::MakeUdp(const Network& network)
{
    constexpr const char* UDP = "ns3::UdpSocketFactory";
    // The payload carries the time of sending, if it is large enough.
    const BooleanValue stamped(m_flow.size >=
                               static_cast<int>(SeqTsSizeHeader().GetSerializedSize()));
    Ptr<Application> sink = MakeSink(UDP);
    sink->SetAttribute("EnableSeqTsSizeHeader", stamped);
    sink->TraceConnectWithoutContext("RxWithSeqTsSize",
                                     MakeCallback(&SimulatedFlow::ReceivedStamped, this));
    StartAndStop(sink, network.GetNode(m_flow.to), Seconds(1)); // for packets in flight
    Ptr<Application> source =
        MakeConstantRate(m_flow.rate ? *m_flow.rate : RateOfLink(network), m_flow.size);
    SendTo(source, UDP);
    source->SetAttribute("EnableSeqTsSizeHeader", stamped);
    source->TraceConnectWithoutContext("Tx", MakeCallback(&SimulatedFlow::Sent, this));
    StartAndStop(source, network.GetNode(m_flow.from), Time(0));
}

void
SimulatedFlow::MakeTcp(const Network& network)
{
    constexpr const char* TCP = "ns3::TcpSocketFactory";
    constexpr int SEGMENT = 1448; // bytes
    StartAndStop(MakeSink(TCP), network.GetNode(m_flow.to), Time(0));
    Ptr<Application> source;
    if (m_flow.rate)
    {
        source = MakeConstantRate(*m_flow.rate, SEGMENT);
    }
    else
    {
        source = CreateObject<BulkSendApplication>();
        source->SetAttribute("SendSize", UintegerValue(SEGMENT));
        source->SetAttribute("MaxBytes", UintegerValue(0));
    }
    SendTo(source, TCP);
    StartAndStop(source, network.GetNode(m_flow.from), Time(0));
}

void
SimulatedFlow::MakePing(const Network& network)
{
    const Address destination = m_to.family == Family::kIpv4
                                    ? Address(wireconversion::ToIpv4(m_to))
                                    : Address(wireconversion::ToIpv6(m_to));
    const auto count =
        std::max<int64_t>(1,
                          (m_flow.duration.nanoseconds() + m_flow.interval.nanoseconds() - 1) /
                              std::max<int64_t>(1, m_flow.interval.nanoseconds()));
    auto ping = CreateObject<Ping>();
    ping->SetAttribute("Destination", AddressValue(destination));
    ping->SetAttribute("VerboseMode", EnumValue(Ping::VerboseMode::SILENT));
    ping->SetAttribute("Interval", TimeValue(ToTime(m_flow.interval)));
    ping->SetAttribute("Size", UintegerValue(std::max(16, m_flow.size)));
    ping->SetAttribute("Count", UintegerValue(static_cast<uint32_t>(count + 1)));
    m_ping = ping;
    m_pings = static_cast<uint64_t>(count);
    ping->TraceConnectWithoutContext("Tx", MakeCallback(&SimulatedFlow::PingSent, this));
    ping->TraceConnectWithoutContext("Rtt", MakeCallback(&SimulatedFlow::PingAnswered, this));
    StartAndStop(ping, network.GetNode(m_flow.from), Seconds(1));
}

double
SimulatedFlow::Elapsed() const
{
    return (Simulator::Now() - m_begin).GetSeconds();
}

void
SimulatedFlow::Sent(Ptr<const Packet>)
{
    m_sent++;
}

void
SimulatedFlow::Received(Ptr<const Packet> packet, const Address&)
{
    m_received++;
    m_bytes += packet->GetSize();
    m_perSecond[static_cast<uint64_t>(std::max(0.0, Elapsed()))] += packet->GetSize();
}

void
SimulatedFlow::ReceivedStamped(Ptr<const Packet>,
                               const Address&,
                               const Address&,
                               const SeqTsSizeHeader& header)
{
    m_delay.Record((Simulator::Now() - header.GetTs()).GetNanoSeconds());
}

void
SimulatedFlow::PingSent(uint16_t, Ptr<Packet>)
{
    m_sent++;
    if (m_sent == m_pings)
    {
        // This was the last one. If Ping itself counted, it would close its socket after twice the
        // longest round-trip time in whole milliseconds, which is at once if that is below one.
        m_ping->SetAttribute("Interval", TimeValue(Hours(24)));
    }
}

void
SimulatedFlow::PingAnswered(uint16_t, Time rtt)
{
    m_rttMin = m_received == 0 ? rtt.GetNanoSeconds() : std::min(m_rttMin, rtt.GetNanoSeconds());
    m_received++;
    m_rtt.Record(rtt.GetNanoSeconds());
    m_rttSum += rtt.GetNanoSeconds() / 1e6;
    m_rtts.emplace_back(Elapsed(), rtt.GetNanoSeconds() / 1e6);
}

std::vector<std::pair<double, double>>
SimulatedFlow::Throughput() const
{
    std::vector<std::pair<double, double>> samples;
    for (uint64_t second = 0; second < m_flow.duration.ToSeconds(); second++)
    {
        const auto found = m_perSecond.find(second);
        samples.emplace_back(second + 1, found == m_perSecond.end() ? 0.0 : found->second * 8.0);
    }
    return samples;
}

viaduct::result::FlowResult
SimulatedFlow::Result() const
{
    viaduct::result::FlowResult result;
    result.name = m_flow.name;
    result.kind = viaduct::scenario::KindName(m_flow.kind);
    result.from = m_flow.from;
    result.to = m_flow.to;
    if (m_flow.kind != Flow::Kind::kTcp)
    {
        result.Count(m_sent, m_received);
    }
    if (m_flow.kind == Flow::Kind::kPing)
    {
        if (m_received > 0)
        {
            result.rtt = viaduct::result::Times::Of(m_rtt);
            result.rtt->min = m_rttMin / 1e6;
            result.rtt->mean = m_rttSum / m_received;
        }
        result.samples = m_rtts;
        return result;
    }
    const double seconds = m_flow.duration.ToSeconds();
    result.rate = seconds > 0 ? m_bytes * 8.0 / seconds : 0.0;
    if (m_delay.Count() > 0)
    {
        result.delay = viaduct::result::Times::Of(m_delay);
    }
    result.samples = Throughput();
    return result;
}

} // namespace ns3::sim
