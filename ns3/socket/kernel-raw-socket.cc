/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/socket/kernel-raw-socket.h"

#include "ns3/boolean.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv6-header.h"
#include "ns3/uinteger.h"

// <netinet/in.h> is included before the kernel's headers, which then omit libc's definitions
// (linux/libc-compat.h).
#include <netinet/in.h>

#include <linux/icmp.h>
#include <sys/socket.h>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(KernelRawSocket);

TypeId
KernelRawSocket::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::KernelRawSocket")
            .SetParent<Socket>()
            .SetGroupName("Viaduct")
            .AddConstructor<KernelRawSocket>()
            .AddAttribute(
                "Protocol",
                "The IP protocol number of the packets that the socket sends and receives.",
                UintegerValue(0),
                MakeUintegerAccessor(&KernelRawSocket::SetProtocol, &KernelRawSocket::GetProtocol),
                MakeUintegerChecker<uint16_t>())
            .AddAttribute("IcmpFilter",
                          "The ICMP types, 0 to 31, of received packets that are dropped: a bit "
                          "mask in which bit N stands for type N.",
                          UintegerValue(0),
                          MakeUintegerAccessor(&KernelRawSocket::SetIcmpFilter,
                                               &KernelRawSocket::GetIcmpFilter),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("IpHeaderInclude",
                          "Whether packets that the application sends begin with the IP header "
                          "(socket option IP_HDRINCL).",
                          BooleanValue(false),
                          MakeBooleanAccessor(&KernelRawSocket::SetHeaderInclude,
                                              &KernelRawSocket::GetHeaderInclude),
                          MakeBooleanChecker());
    return tid;
}

KernelRawSocket::KernelRawSocket()
    : KernelSocketMixin({NS3_SOCK_RAW, SOCK_RAW, 0, false, false, 65535})
{
    Core().SetAllowBroadcast(true);
}

bool
KernelRawSocket::SetAllowBroadcast(bool allow)
{
    return allow;
}

void
KernelRawSocket::NotifyConstructionCompleted()
{
    Core().SetPrepare([this](Ptr<Packet> packet, const KernelSocketCore::Data& data) {
        if (Core().IsIpv6())
        {
            AddIpv6Header(packet, data);
        }
        return !m_group || IsForGroup(data);
    });
    Socket::NotifyConstructionCompleted();
}

bool
KernelRawSocket::IsForGroup(const KernelSocketCore::Data& data) const
{
    return data.info && Ipv6Address::Deserialize(data.info->destination.address) == *m_group;
}

// Binds the socket. If the protocol is not set yet, only keeps the address until SetProtocol() is
// called: ns-3's Radvd binds first and sets the protocol afterwards, but the kernel needs the
// protocol to open a socket. If the address is a group, binds to any address and filters the
// received packets: Radvd binds to a group without an interface, but the kernel needs an interface.
int
KernelRawSocket::Bind(const Address& address)
{
    if (m_protocol == 0)
    {
        m_bindAddress = address;
        return 0;
    }
    if (Inet6SocketAddress::IsMatchingType(address))
    {
        const auto group = Inet6SocketAddress::ConvertFrom(address).GetIpv6();
        if (group.IsMulticast())
        {
            m_group = group;
            return Bind6();
        }
    }
    return KernelSocketMixin::Bind(address);
}

void
KernelRawSocket::AddIpv6Header(Ptr<Packet> packet, const KernelSocketCore::Data& data) const
{
    Ipv6Header header;
    header.SetNextHeader(static_cast<uint8_t>(m_protocol));
    header.SetPayloadLength(static_cast<uint16_t>(packet->GetSize()));
    if (data.from)
    {
        header.SetSource(Ipv6Address::Deserialize(data.from->address));
    }
    if (data.info)
    {
        header.SetDestination(Ipv6Address::Deserialize(data.info->destination.address));
        header.SetHopLimit(static_cast<uint8_t>(data.info->ttl));
        header.SetTrafficClass(static_cast<uint8_t>(data.info->tos));
    }
    packet->AddHeader(header);
}

void
KernelRawSocket::SetProtocol(uint16_t protocol)
{
    m_protocol = protocol;
    Core().SetProtocol(protocol);
    if (protocol != 0 && !m_bindAddress.IsInvalid())
    {
        Bind(std::exchange(m_bindAddress, Address()));
    }
}

void
KernelRawSocket::SetIcmpFilter(uint32_t types)
{
    if (std::exchange(m_icmpFilter, types) != types)
    {
        const icmp_filter filter{types};
        SetSockOpt(SOL_RAW, ICMP_FILTER, &filter, sizeof filter);
    }
}

void
KernelRawSocket::SetHeaderInclude(bool include)
{
    if (std::exchange(m_headerInclude, include) != include)
    {
        Core().SetSockOpt(IPPROTO_IP, IP_HDRINCL, include ? 1 : 0);
    }
}

} // namespace ns3
