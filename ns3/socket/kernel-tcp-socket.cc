/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/socket/kernel-tcp-socket.h"

#include "ns3/socket/kernel-socket-stack.h"
#include "ns3/socket/kernel-tcp-info.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(KernelTcpSocket);
NS_OBJECT_ENSURE_REGISTERED(KernelMptcpSocket);

namespace
{

// Returns the default that ns-3's source gives to an attribute; Config::SetDefault() has no effect
// on the result.
Ptr<const AttributeValue>
OriginalValue(const std::string& attribute)
{
    TypeId::AttributeInformation information;
    const bool found = TcpSocket::GetTypeId().LookupAttributeByName(attribute, &information);
    NS_ABORT_MSG_UNLESS(found, "ns3::TcpSocket has no attribute " << attribute);
    return information.originalInitialValue;
}

std::string
ToText(const AttributeValue& value)
{
    return value.SerializeToString(nullptr);
}

} // namespace

TypeId
KernelTcpSocket::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::KernelTcpSocket")
            .SetParent<TcpSocket>()
            .SetGroupName("Viaduct")
            .AddConstructor<KernelTcpSocket>()
            .AddAttribute("CongestionControl",
                          "The name of the congestion control in the kernel: reno, cubic, bbr, "
                          "dctcp...; empty: the default of the node.",
                          StringValue(""),
                          MakeStringAccessor(&KernelTcpSocket::SetCongestionControl,
                                             &KernelTcpSocket::GetCongestionControl),
                          MakeStringChecker())
            .AddAttribute("MaxSegLifetime",
                          "The maximum segment lifetime, as in ns3::TcpSocketBase, but without "
                          "effect: a kernel keeps a closed connection in TIME_WAIT for 60 s.",
                          DoubleValue(120),
                          MakeDoubleAccessor(&KernelTcpSocket::m_maxSegLifetime),
                          MakeDoubleChecker<double>(0))
            .AddTraceSource("CongestionWindow",
                            "The congestion window in bytes, reported at each "
                            "KernelState::Interval if the value has changed.",
                            MakeTraceSourceAccessor(&KernelTcpSocket::m_cwnd),
                            "ns3::TracedValueCallback::Uint32")
            .AddTraceSource("SlowStartThreshold",
                            "The slow start threshold in bytes, reported at each "
                            "KernelState::Interval if the value has changed; initially 4294967295.",
                            MakeTraceSourceAccessor(&KernelTcpSocket::m_ssthresh),
                            "ns3::TracedValueCallback::Uint32")
            .AddTraceSource("RTT",
                            "The smoothed round-trip time, reported at each KernelState::Interval "
                            "if the value has changed.",
                            MakeTraceSourceAccessor(&KernelTcpSocket::m_rtt),
                            "ns3::TracedValueCallback::Time")
            .AddTraceSource("RTO",
                            "The retransmission timeout, reported at each KernelState::Interval if "
                            "the value has changed.",
                            MakeTraceSourceAccessor(&KernelTcpSocket::m_rto),
                            "ns3::TracedValueCallback::Time");
    return tid;
}

TypeId
KernelMptcpSocket::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelMptcpSocket")
                            .SetParent<KernelTcpSocket>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelMptcpSocket>();
    return tid;
}

KernelTcpSocket::KernelTcpSocket(int protocol)
    : KernelSocketMixin({NS3_SOCK_STREAM, SOCK_STREAM, protocol, true, true, 0})
{
}

KernelTcpSocket::KernelTcpSocket() : KernelTcpSocket(IPPROTO_TCP)
{
}

KernelMptcpSocket::KernelMptcpSocket() : KernelTcpSocket(IPPROTO_MPTCP)
{
}

void
KernelTcpSocket::SetCongestionControl(const std::string& name)
{
    m_congestionControl = name;
    if (!name.empty())
    {
        SetSockOpt(IPPROTO_TCP, TCP_CONGESTION, name.data(), static_cast<uint32_t>(name.size()));
    }
}

bool
KernelTcpSocket::HasStateListeners() const
{
    return !(m_cwnd.IsEmpty() && m_ssthresh.IsEmpty() && m_rtt.IsEmpty() && m_rto.IsEmpty());
}

void
KernelTcpSocket::TellState(const KernelTcpInfo& info)
{
    const auto tell = [](auto& trace, auto& last, const auto& now) {
        if (const auto before = std::exchange(last, now); before != now)
        {
            trace(before, now);
        }
    };
    const auto bytes = [&](uint32_t segments) {
        const uint64_t product = uint64_t{segments} * info.mss;
        return static_cast<uint32_t>(std::min<uint64_t>(product, UINT32_MAX));
    };
    tell(m_cwnd, m_lastCwnd, bytes(info.cwnd));
    tell(m_ssthresh, m_lastSsthresh, bytes(info.ssthresh));
    tell(m_rtt, m_lastRtt, info.rtt);
    tell(m_rto, m_lastRto, info.rto);
}

void
KernelTcpSocket::SetUnsupported(const std::string& name, const AttributeValue& value) const
{
    const std::string original = ToText(*OriginalValue(name));
    NS_ABORT_MSG_IF(ToText(value) != original,
                    "ns3::KernelTcpSocket: the kernel's TCP does not support setting "
                        << name << " on a socket; leave the attribute at " << original
                        << ", or use a setting of the node's kernel instead (sysctl, route)");
}

void
KernelTcpSocket::SetSize(const std::string& attribute,
                         uint32_t value,
                         uint32_t* present,
                         int option)
{
    const bool original = ToText(UintegerValue(value)) == ToText(*OriginalValue(attribute));
    const uint32_t before = std::exchange(*present, value);
    if (!original || (before != 0 && before != value))
    {
        Core().SetSockOpt(IPPROTO_TCP, option, static_cast<int>(value));
    }
}

void
KernelTcpSocket::SetSegSize(uint32_t size)
{
    SetSize("SegmentSize", size, &m_segmentSize, TCP_MAXSEG);
}

void
KernelTcpSocket::SetSynRetries(uint32_t count)
{
    SetSize("ConnCount", count, &m_synRetries, TCP_SYNCNT);
}

void
KernelTcpSocket::SetTcpNoDelay(bool noDelay)
{
    m_noDelay = noDelay;
    Core().SetSockOpt(IPPROTO_TCP, TCP_NODELAY, noDelay ? 1 : 0);
}

} // namespace ns3
