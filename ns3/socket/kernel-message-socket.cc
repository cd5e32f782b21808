/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/socket/kernel-message-socket.h"

#include "ns3/boolean.h"
#include "ns3/uinteger.h"

#include <netinet/in.h>
#include <sys/socket.h>

// The kernel's headers below need declarations of the headers above.
#include <linux/dccp.h>
#include <linux/sctp.h>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(KernelMessageSocket);
NS_OBJECT_ENSURE_REGISTERED(KernelDccpSocket);
NS_OBJECT_ENSURE_REGISTERED(KernelSctpSocket);

TypeId
KernelMessageSocket::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::KernelMessageSocket")
            .SetParent<Socket>()
            .SetGroupName("Viaduct")
            .AddAttribute("SndBufSize",
                          "The maximum number of bytes that the application has sent but the "
                          "kernel has not yet accepted; a value other than the default also sets "
                          "the size of the kernel's send buffer (SO_SNDBUF).",
                          UintegerValue(KernelSocketCore::DEFAULT_BUFFER),
                          MakeUintegerAccessor(&KernelMessageSocket::SetSndBufSize,
                                               &KernelMessageSocket::GetSndBufSize),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("RcvBufSize",
                          "The maximum number of received bytes that the application has not yet "
                          "read; a value other than the default also sets the size of the kernel's "
                          "receive buffer (SO_RCVBUF).",
                          UintegerValue(KernelSocketCore::DEFAULT_BUFFER),
                          MakeUintegerAccessor(&KernelMessageSocket::SetRcvBufSize,
                                               &KernelMessageSocket::GetRcvBufSize),
                          MakeUintegerChecker<uint32_t>(1));
    return tid;
}

TypeId
KernelDccpSocket::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelDccpSocket")
                            .SetParent<KernelMessageSocket>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelDccpSocket>()
                            .AddAttribute("Ccid",
                                          "The congestion control: 2 (TCP-like, RFC 4341) or 3 "
                                          "(TFRC, RFC 4342); 0: the kernel's default.",
                                          UintegerValue(0),
                                          MakeUintegerAccessor(&KernelDccpSocket::SetCcid,
                                                               &KernelDccpSocket::GetCcid),
                                          MakeUintegerChecker<uint8_t>());
    return tid;
}

TypeId
KernelSctpSocket::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::KernelSctpSocket")
            .SetParent<KernelMessageSocket>()
            .SetGroupName("Viaduct")
            .AddConstructor<KernelSctpSocket>()
            .AddAttribute(
                "NoDelay",
                "Whether small messages are sent immediately (SCTP_NODELAY).",
                BooleanValue(true),
                MakeBooleanAccessor(&KernelSctpSocket::SetNoDelay, &KernelSctpSocket::GetNoDelay),
                MakeBooleanChecker());
    return tid;
}

KernelMessageSocket::KernelMessageSocket(const KernelSocketCore::Kind& kind)
    : KernelSocketMixin(kind)
{
}

KernelDccpSocket::KernelDccpSocket()
    : KernelMessageSocket({NS3_SOCK_SEQPACKET, SOCK_DCCP, IPPROTO_DCCP, true, false, 65535, false})
{
}

KernelSctpSocket::KernelSctpSocket()
    : KernelMessageSocket({NS3_SOCK_SEQPACKET, SOCK_STREAM, IPPROTO_SCTP, true, false, 65535})
{
}

void
KernelDccpSocket::SetCcid(uint8_t ccid)
{
    m_ccid = ccid;
    if (ccid != 0)
    {
        SetSockOpt(SOL_DCCP, DCCP_SOCKOPT_CCID, &ccid, sizeof ccid);
    }
}

void
KernelSctpSocket::SetNoDelay(bool noDelay)
{
    m_noDelay = noDelay;
    Core().SetSockOpt(IPPROTO_SCTP, SCTP_NODELAY, noDelay ? 1 : 0);
}

} // namespace ns3
