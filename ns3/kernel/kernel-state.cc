/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/kernel/kernel-state.h"

#include "ns3/socket/kernel-socket-address.h"
#include "ns3/socket/kernel-socket-stack.h"
#include "ns3/socket/kernel-tcp-socket.h"

#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"

#include "guest/agent/state_client.h"

#include <linux/tcp.h>

namespace ns3
{

using viaduct::guest::agent::FixedText;

NS_OBJECT_ENSURE_REGISTERED(KernelState);

namespace
{

/** Returns the name that ss(8) gives to a state of include/net/tcp_states.h. */
std::string
StateName(uint8_t state)
{
    static const char* const names[] = {"UNKNOWN",
                                        "ESTAB",
                                        "SYN-SENT",
                                        "SYN-RECV",
                                        "FIN-WAIT-1",
                                        "FIN-WAIT-2",
                                        "TIME-WAIT",
                                        "UNCONN",
                                        "CLOSE-WAIT",
                                        "LAST-ACK",
                                        "LISTEN",
                                        "CLOSING"};
    return names[state < std::size(names) ? state : 0];
}

/** Returns the name of a congestion control state, enum tcp_ca_state of linux/tcp.h. */
std::string
CaStateName(uint8_t state)
{
    static const char* const names[] = {"Open", "Disorder", "CWR", "Recovery", "Loss"};
    return state < std::size(names) ? names[state] : "UNKNOWN";
}

} // namespace

TypeId
KernelState::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::KernelState")
            .SetParent<Object>()
            .SetGroupName("Viaduct")
            .AddConstructor<KernelState>()
            .AddAttribute(
                "Interval",
                "The time between two samples of the kernel's state; the first sample is taken at "
                "the start of the simulation. 0: no samples. Values whose trace source has no "
                "sinks are not sampled.",
                TimeValue(Time(0)),
                MakeTimeAccessor(&KernelState::SetInterval, &KernelState::GetInterval),
                MakeTimeChecker(Time(0)))
            .AddTraceSource("TcpInfo",
                            "The state (TCP_INFO) of each TCP socket of applications and programs "
                            "that has a peer, at each Interval.",
                            MakeTraceSourceAccessor(&KernelState::m_tcp),
                            "ns3::KernelState::TcpInfoTracedCallback")
            .AddTraceSource("QdiscStatistics",
                            "The statistics of each queueing discipline, at each Interval.",
                            MakeTraceSourceAccessor(&KernelState::m_qdiscs),
                            "ns3::KernelState::QdiscTracedCallback")
            .AddTraceSource("Counters",
                            "The node's counters (nstat), at each Interval.",
                            MakeTraceSourceAccessor(&KernelState::m_counters),
                            "ns3::KernelState::CountersTracedCallback");
    return tid;
}

KernelState::KernelState() = default;
KernelState::~KernelState() = default;

void
KernelState::DoInitialize()
{
    Start();
    Object::DoInitialize();
}

void
KernelState::DoDispose()
{
    m_event.Cancel();
    m_client.reset();
    m_sockets.clear();
    m_stack = nullptr;
    Object::DoDispose();
}

void
KernelState::SetInterval(Time interval)
{
    m_interval = interval;
    if (IsInitialized())
    {
        Start();
    }
}

void
KernelState::Start()
{
    // Remove() is used because Simulator::Cancel() would leave the event in the simulator's queue,
    // and guests would stop at the time of the cancelled event.
    Simulator::Remove(m_event);
    m_event = EventId();
    if (m_stack && m_interval.IsStrictlyPositive())
    {
        m_event = Simulator::ScheduleNow(&KernelState::Sample, this);
    }
}

void
KernelState::FindSockets()
{
    m_sockets.clear();
    for (const auto& [number, socket] : m_stack->GetOpenSockets())
    {
        Address local;
        Address peer;
        auto tcp = DynamicCast<KernelTcpSocket>(socket);
        if (tcp && tcp->HasStateListeners() && tcp->GetPeerName(peer) == 0 &&
            tcp->GetSockName(local) == 0)
        {
            m_sockets[{local, peer}] = tcp;
        }
    }
}

void
KernelState::Sample()
{
    m_event = Simulator::Schedule(m_interval, &KernelState::Sample, this);
    FindSockets();
    viaduct::guest::StateSink sink;
    if (!m_tcp.IsEmpty() || !m_sockets.empty())
    {
        sink.tcp = [this](const auto& socket, const ::tcp_info& info) { TellTcp(socket, info); };
    }
    if (!m_qdiscs.IsEmpty())
    {
        sink.qdisc = [this](const auto& qdisc) { TellQdisc(qdisc); };
    }
    if (!m_counters.IsEmpty())
    {
        sink.counters = [this](const Counters& counters) { m_counters(counters); };
    }
    if (!m_client)
    {
        m_client = m_stack->GetClient<viaduct::guest::StateClient>();
    }
    m_client->Sample(m_stack->GetNumber(), std::move(sink));
}

void
KernelState::TellTcp(const viaduct::guest::agent::TcpState& state, const ::tcp_info& info)
{
    KernelTcpInfo told;
    told.socket = state.cookie;
    told.local = kernelsocket::FromEndpoint(state.local);
    told.peer = kernelsocket::FromEndpoint(state.peer);
    told.state = StateName(info.tcpi_state);
    told.caState = CaStateName(info.tcpi_ca_state);
    told.congestionControl = FixedText(state.congestion_control);
    told.cwnd = info.tcpi_snd_cwnd;
    told.ssthresh = info.tcpi_snd_ssthresh;
    told.mss = info.tcpi_snd_mss;
    told.rtt = MicroSeconds(info.tcpi_rtt);
    told.rttvar = MicroSeconds(info.tcpi_rttvar);
    told.minRtt = MicroSeconds(info.tcpi_min_rtt);
    told.rto = MicroSeconds(info.tcpi_rto);
    told.retransmits = info.tcpi_total_retrans;
    told.lost = info.tcpi_lost;
    told.unacked = info.tcpi_unacked;
    told.sacked = info.tcpi_sacked;
    told.bytesSent = info.tcpi_bytes_sent;
    told.bytesRetransmitted = info.tcpi_bytes_retrans;
    told.bytesAcked = info.tcpi_bytes_acked;
    told.bytesReceived = info.tcpi_bytes_received;
    told.pacingRate = info.tcpi_pacing_rate;
    told.deliveryRate = info.tcpi_delivery_rate;
    told.notSent = info.tcpi_notsent_bytes;
    told.receiveQueue = state.receive_queue;
    told.sendQueue = state.send_queue;
    told.busy = MicroSeconds(info.tcpi_busy_time);
    told.receiveWindowLimited = MicroSeconds(info.tcpi_rwnd_limited);
    told.sendBufferLimited = MicroSeconds(info.tcpi_sndbuf_limited);
    m_tcp(told);
    const auto socket = m_sockets.find({told.local, told.peer});
    if (socket != m_sockets.end())
    {
        socket->second->TellState(told);
    }
}

void
KernelState::TellQdisc(const viaduct::guest::agent::QdiscState& qdisc)
{
    m_qdiscs({FixedText(qdisc.device),
              FixedText(qdisc.kind),
              qdisc.handle,
              qdisc.parent,
              qdisc.bytes,
              qdisc.packets,
              qdisc.drops,
              qdisc.overlimits,
              qdisc.requeues,
              qdisc.backlog,
              qdisc.queue_length});
}

} // namespace ns3
