/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/kernel/kernel-state-csv.h"

#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/simulator.h"
#include "ns3/socket/kernel-socket-stack.h"

#include "base/error.h"

#include <cerrno>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <sstream>

namespace ns3
{

namespace
{

constexpr size_t BLOCK = 64 * 1024;           // minimum bytes of rows that are written at once
constexpr uint32_t NO_THRESHOLD = 0x7fffffff; // TCP_INFINITE_SSTHRESH of include/net/tcp.h

const char* const TCP_HEADER =
    "time_s,socket,local,local_port,peer,peer_port,state,ca_state,congestion_control,"
    "cwnd_segments,ssthresh_segments,mss_bytes,rtt_us,rttvar_us,min_rtt_us,rto_us,"
    "retransmitted_segments,lost_segments,unacked_segments,sacked_segments,"
    "sent_bytes,retransmitted_bytes,acked_bytes,received_bytes,"
    "pacing_rate_bytes_per_s,delivery_rate_bytes_per_s,not_sent_bytes,send_queue_bytes,"
    "receive_queue_bytes,busy_us,receive_window_limited_us,send_buffer_limited_us";
const char* const QDISC_HEADER =
    "time_s,device,kind,handle,parent,sent_bytes,sent_packets,dropped_packets,overlimits,requeues,"
    "backlog_bytes,queued_packets";
const char* const NSTAT_HEADER = "time_s,counter,value";

/** Returns the virtual time in seconds, with nine decimals. */
std::string
NowText()
{
    const int64_t nanoseconds = Simulator::Now().GetNanoSeconds();
    return fmt::format("{}.{:09}", nanoseconds / 1000000000, nanoseconds % 1000000000);
}

/** Returns the IP address and port of an endpoint as two fields, for example "10.0.0.1,5000". */
std::string
EndpointText(const Address& address)
{
    std::ostringstream text;
    if (InetSocketAddress::IsMatchingType(address))
    {
        const auto inet = InetSocketAddress::ConvertFrom(address);
        text << inet.GetIpv4() << "," << inet.GetPort();
    }
    else if (Inet6SocketAddress::IsMatchingType(address))
    {
        const auto inet = Inet6SocketAddress::ConvertFrom(address);
        text << inet.GetIpv6() << "," << inet.GetPort();
    }
    else
    {
        text << ",";
    }
    return text.str();
}

/** Returns the handle of a queueing discipline in the format of tc(8): "8001:", "1:10", "root". */
std::string
HandleText(uint32_t handle)
{
    if (handle == UINT32_MAX)
    {
        return "root";
    }
    const uint32_t minor = handle & 0xffff;
    return minor == 0 ? fmt::format("{:x}:", handle >> 16)
                      : fmt::format("{:x}:{:x}", handle >> 16, minor);
}

std::string
NumberUnless(uint64_t none, uint64_t value)
{
    return value == none ? "" : std::to_string(value);
}

} // namespace

KernelStateCsv::File::File(const std::string& name, const std::string& header) : m_name(name)
{
    std::ofstream file(name, std::ios::trunc);
    file << header << "\n" << std::flush;
    if (!file)
    {
        throw viaduct::SystemError("write " + name, errno);
    }
}

void
KernelStateCsv::File::Add(const std::string& row)
{
    if (m_failed)
    {
        return;
    }
    m_rows.append(row).push_back('\n');
    if (m_rows.size() < BLOCK)
    {
        return;
    }
    try
    {
        Flush();
    }
    catch (const viaduct::Error& error)
    {
        // If the rows cannot be written, for example because the disk is full, the simulation
        // continues.
        m_failed = true;
        std::cerr << "error: " << error.what() << "; the following rows are missing from the file"
                  << std::endl;
    }
}

void
KernelStateCsv::File::Flush()
{
    if (m_rows.empty())
    {
        return;
    }
    std::ofstream file(m_name, std::ios::app);
    file << m_rows << std::flush;
    m_rows.clear();
    if (!file)
    {
        throw viaduct::SystemError("write " + m_name, errno);
    }
}

KernelStateCsv::KernelStateCsv(const std::string& prefix, Ptr<KernelState> state)
    : m_state(state),
      m_tcp(prefix + "-tcp.csv", TCP_HEADER),
      m_qdisc(prefix + "-qdisc.csv", QDISC_HEADER),
      m_nstat(prefix + "-nstat.csv", NSTAT_HEADER)
{
    state->TraceConnectWithoutContext("TcpInfo", MakeCallback(&KernelStateCsv::AddTcp, this));
    state->TraceConnectWithoutContext("QdiscStatistics",
                                      MakeCallback(&KernelStateCsv::AddQdisc, this));
    state->TraceConnectWithoutContext("Counters", MakeCallback(&KernelStateCsv::AddCounters, this));
}

KernelStateCsv::~KernelStateCsv()
{
    m_state->TraceDisconnectWithoutContext("TcpInfo", MakeCallback(&KernelStateCsv::AddTcp, this));
    m_state->TraceDisconnectWithoutContext("QdiscStatistics",
                                           MakeCallback(&KernelStateCsv::AddQdisc, this));
    m_state->TraceDisconnectWithoutContext("Counters",
                                           MakeCallback(&KernelStateCsv::AddCounters, this));
    try
    {
        Flush();
    }
    catch (const viaduct::Error& error)
    {
        std::cerr << "error: " << error.what() << std::endl;
    }
}

void
KernelStateCsv::Flush()
{
    m_tcp.Flush();
    m_qdisc.Flush();
    m_nstat.Flush();
}

void
KernelStateCsv::AddTcp(const KernelTcpInfo& info)
{
    std::string row = fmt::format("{},{},{},{},{},{},{}",
                                  NowText(),
                                  info.socket,
                                  EndpointText(info.local),
                                  EndpointText(info.peer),
                                  info.state,
                                  info.caState,
                                  info.congestionControl);
    row += fmt::format(",{},{},{},{},{},{},{}",
                       info.cwnd,
                       NumberUnless(NO_THRESHOLD, info.ssthresh),
                       info.mss,
                       info.rtt.GetMicroSeconds(),
                       info.rttvar.GetMicroSeconds(),
                       NumberUnless(UINT32_MAX, info.minRtt.GetMicroSeconds()),
                       info.rto.GetMicroSeconds());
    row += fmt::format(",{},{},{},{},{},{},{},{}",
                       info.retransmits,
                       info.lost,
                       info.unacked,
                       info.sacked,
                       info.bytesSent,
                       info.bytesRetransmitted,
                       info.bytesAcked,
                       info.bytesReceived);
    row += fmt::format(",{},{},{},{},{},{},{},{}",
                       NumberUnless(UINT64_MAX, info.pacingRate),
                       info.deliveryRate,
                       info.notSent,
                       info.sendQueue,
                       info.receiveQueue,
                       info.busy.GetMicroSeconds(),
                       info.receiveWindowLimited.GetMicroSeconds(),
                       info.sendBufferLimited.GetMicroSeconds());
    m_tcp.Add(row);
}

void
KernelStateCsv::AddQdisc(const KernelQdiscStatistics& statistics)
{
    m_qdisc.Add(fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}",
                            NowText(),
                            statistics.device,
                            statistics.kind,
                            HandleText(statistics.handle),
                            HandleText(statistics.parent),
                            statistics.bytes,
                            statistics.packets,
                            statistics.drops,
                            statistics.overlimits,
                            statistics.requeues,
                            statistics.backlog,
                            statistics.queued));
}

void
KernelStateCsv::AddCounters(const KernelState::Counters& counters)
{
    for (const auto& [name, value] : counters)
    {
        int64_t& known = m_known[name]; // last written value; 0 for a new counter
        if (known != value)
        {
            known = value;
            m_nstat.Add(fmt::format("{},{},{}", NowText(), name, value));
        }
    }
}

} // namespace ns3
