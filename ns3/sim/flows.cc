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

#include <algorithm>

namespace ns3
{
namespace sim
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

int64_t
SimulatedFlow::RateOf(const Flow& flow, const Network& network)
{
    if (flow.rate)
    {
        return *flow.rate;
    }
    for (const NetworkLink& link : network.GetLinks())
    {
        const auto& nodes = link.settings->nodes;
        const auto end = std::find(nodes.begin(), nodes.end(), flow.from);
        if (end != nodes.end() && Network::SpecOf(*link.settings, end - nodes.begin()).link.rate)
        {
            // As much payload as the link carries, with UDP, IP and Ethernet headers around it.
            const auto rate = *Network::SpecOf(*link.settings, end - nodes.begin()).link.rate;
            const bool ipv4 = network.AddressOf(flow.to).family == Family::kIpv4;
            return rate * flow.size / (flow.size + 8 + (ipv4 ? 20 : 40) + 18);
        }
    }
    throw UsageError("flow \"" + flow.name + "\": its sender has no link; connect it");
}

SimulatedFlow::SimulatedFlow(const Flow& flow, size_t index, const Network& network)
    : m_flow(flow), m_begin(Simulator::Now() + ToTime(flow.start))
{
    switch (flow.kind)
    {
    case Flow::Kind::kUdp:
        MakeUdp(index, network);
        break;
    case Flow::Kind::kTcp:
        MakeTcp(index, network);
        break;
    case Flow::Kind::kPing:
        MakePing(network);
        break;
    }
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

void
SimulatedFlow::MakeUdp(size_t index, const Network& network)
{
    const auto port = static_cast<uint16_t>(FIRST_PORT + index);
    const IpAddress to = network.AddressOf(m_flow.to);
    auto sink = CreateObject<PacketSink>();
    sink->SetAttribute("Protocol", StringValue("ns3::UdpSocketFactory"));
    sink->SetAttribute("Local", AddressValue(SocketAddress(to, port)));
    sink->TraceConnectWithoutContext("Rx", MakeCallback(&SimulatedFlow::Received, this));
    // The time of sending travels in the payload, where it fits.
    const bool stamped = m_flow.size >= static_cast<int>(SeqTsSizeHeader().GetSerializedSize());
    sink->SetAttribute("EnableSeqTsSizeHeader", BooleanValue(stamped));
    sink->TraceConnectWithoutContext("RxWithSeqTsSize",
                                     MakeCallback(&SimulatedFlow::ReceivedStamped, this));
    StartAndStop(sink, network.GetNode(m_flow.to), Seconds(1)); // for what is under way
    auto source = CreateObject<OnOffApplication>();
    source->SetAttribute("Protocol", StringValue("ns3::UdpSocketFactory"));
    source->SetAttribute("Remote", AddressValue(SocketAddress(to, port)));
    source->SetAttribute("PacketSize", UintegerValue(m_flow.size));
    source->SetAttribute("EnableSeqTsSizeHeader", BooleanValue(stamped));
    source->SetAttribute("DataRate",
                         DataRateValue(DataRate(static_cast<uint64_t>(RateOf(m_flow, network)))));
    source->SetAttribute("OnTime", StringValue("ns3::ConstantRandomVariable[Constant=1e6]"));
    source->SetAttribute("OffTime", StringValue("ns3::ConstantRandomVariable[Constant=0]"));
    source->TraceConnectWithoutContext("Tx", MakeCallback(&SimulatedFlow::Sent, this));
    StartAndStop(source, network.GetNode(m_flow.from), Time(0));
}

void
SimulatedFlow::MakeTcp(size_t index, const Network& network)
{
    const auto port = static_cast<uint16_t>(FIRST_PORT + index);
    const IpAddress to = network.AddressOf(m_flow.to);
    auto sink = CreateObject<PacketSink>();
    sink->SetAttribute("Protocol", StringValue("ns3::TcpSocketFactory"));
    sink->SetAttribute("Local", AddressValue(SocketAddress(to, port)));
    sink->TraceConnectWithoutContext("Rx", MakeCallback(&SimulatedFlow::Received, this));
    StartAndStop(sink, network.GetNode(m_flow.to), Time(0));
    Ptr<Application> source;
    if (m_flow.rate)
    {
        source = CreateObject<OnOffApplication>();
        source->SetAttribute("DataRate",
                             DataRateValue(DataRate(static_cast<uint64_t>(*m_flow.rate))));
        source->SetAttribute("PacketSize", UintegerValue(1448));
        source->SetAttribute("OnTime", StringValue("ns3::ConstantRandomVariable[Constant=1e6]"));
        source->SetAttribute("OffTime", StringValue("ns3::ConstantRandomVariable[Constant=0]"));
    }
    else
    {
        source = CreateObject<BulkSendApplication>();
        source->SetAttribute("SendSize", UintegerValue(1448));
        source->SetAttribute("MaxBytes", UintegerValue(0));
    }
    source->SetAttribute("Protocol", StringValue("ns3::TcpSocketFactory"));
    source->SetAttribute("Remote", AddressValue(SocketAddress(to, port)));
    StartAndStop(source, network.GetNode(m_flow.from), Time(0));
}

void
SimulatedFlow::MakePing(const Network& network)
{
    const IpAddress to = network.AddressOf(m_flow.to);
    const Address destination = to.family == Family::kIpv4 ? Address(wireconversion::ToIpv4(to))
                                                           : Address(wireconversion::ToIpv6(to));
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
        // The last one. Had Ping counted itself, it would close its socket twice the longest
        // round-trip time later, in whole milliseconds: at once, where that is below one.
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

nlohmann::json
SimulatedFlow::Result() const
{
    nlohmann::json result = {{"event", "flow"},
                             {"name", m_flow.name},
                             {"kind", viaduct::scenario::KindName(m_flow.kind)},
                             {"from", m_flow.from},
                             {"to", m_flow.to}};
    if (m_flow.kind != Flow::Kind::kTcp)
    {
        result["sent"] = m_sent;
        result["received"] = m_received;
        const uint64_t got = std::min(m_sent, m_received);
        result["loss"] = m_sent > 0 ? 1.0 - static_cast<double>(got) / m_sent : 0.0;
    }
    if (m_flow.kind == Flow::Kind::kPing)
    {
        if (m_received > 0)
        {
            result["rtt_ms"] = {{"min", m_rttMin / 1e6},
                                {"avg", m_rttSum / m_received},
                                {"max", m_rtt.Max() / 1e6},
                                {"p50", m_rtt.Quantile(0.5) / 1e6},
                                {"p99", m_rtt.Quantile(0.99) / 1e6}};
        }
        result["samples"] = m_rtts;
        return result;
    }
    const double seconds = m_flow.duration.ToSeconds();
    result["rate_bit_per_s"] = seconds > 0 ? m_bytes * 8.0 / seconds : 0.0;
    if (m_delay.Count() > 0)
    {
        result["delay_ms"] = {{"avg", m_delay.Mean() / 1e6},
                              {"max", m_delay.Max() / 1e6},
                              {"p50", m_delay.Quantile(0.5) / 1e6},
                              {"p99", m_delay.Quantile(0.99) / 1e6}};
    }
    std::vector<std::pair<double, double>> samples;
    for (uint64_t second = 0; second < seconds; second++)
    {
        auto found = m_perSecond.find(second);
        samples.emplace_back(second + 1, found == m_perSecond.end() ? 0.0 : found->second * 8.0);
    }
    result["samples"] = samples;
    return result;
}

} // namespace sim
} // namespace ns3
