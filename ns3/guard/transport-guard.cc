/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/guard/transport-guard.h"

#include "ns3/guard/datagram-check.h"
#include "ns3/guard/segment-check.h"

#include "ns3/base/ns3-access.h"
#include "ns3/icmpv4-l4-protocol.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-extension-demux.h"
#include "ns3/ipv6-extension.h"
#include "ns3/ipv6-interface.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/log.h"
#include "ns3/neighbour/solicited-advertisements.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/udp-l4-protocol.h"

#include "base/wire/transport.h"

#include <netinet/in.h>

#include <algorithm>
#include <span>
#include <vector>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("TransportGuard");

NS_OBJECT_ENSURE_REGISTERED(TransportGuard);

namespace
{

namespace wire = viaduct::wire;

/** @return the local port of a socket; 0 if the socket has no port */
uint16_t
PortOf(Ptr<Socket> socket)
{
    Address name;
    socket->GetSockName(name);
    if (InetSocketAddress::IsMatchingType(name))
    {
        return InetSocketAddress::ConvertFrom(name).GetPort();
    }
    return Inet6SocketAddress::IsMatchingType(name)
               ? Inet6SocketAddress::ConvertFrom(name).GetPort()
               : 0;
}

template <typename Stack>
void
InsertOnAll(Ptr<Stack> stack, Ptr<TransportGuard> guard)
{
    for (uint32_t i = 0; stack && i < stack->GetNInterfaces(); ++i)
    {
        stack->Insert(guard, i);
    }
}

/** @return whether no interface of an IP layer has a guard for a protocol */
template <typename Stack>
bool
IsAlone(Ptr<Stack> stack, Ptr<IpL4Protocol> protocol)
{
    for (uint32_t i = 0; stack && i < stack->GetNInterfaces(); ++i)
    {
        if (stack->GetProtocol(protocol->GetProtocolNumber(), i) != protocol)
        {
            return false;
        }
    }
    return true;
}

/** @return whether a readable TCP segment may start ns-3's persist timer, which probes windows of
 * zero */
bool
MayStopSending(Ptr<const Packet> segment)
{
    constexpr std::size_t FLAGS = 13, WINDOW = 14, END = 16; // offsets in TCP's header, RFC 9293
    constexpr uint8_t ACK = 0x10;
    uint8_t bytes[END] = {};
    return segment->CopyData(bytes, END) == END &&
           ((bytes[FLAGS] & ACK) == 0 || (bytes[WINDOW] == 0 && bytes[WINDOW + 1] == 0));
}

/** Removes the IPv6 extensions AH and ESP from a node: ns-3 registers but does not implement them,
 * and ends when it receives a packet with an AH or ESP header (Ipv6L3Protocol::LocalDeliver()). */
void
ForgetSecurity(Ptr<Node> node)
{
    if (Ptr<Ipv6ExtensionDemux> extensions = node->GetObject<Ipv6ExtensionDemux>())
    {
        for (const uint8_t number : {IPPROTO_ESP, IPPROTO_AH})
        {
            if (Ptr<Ipv6Extension> extension = extensions->GetExtension(number))
            {
                extensions->Remove(extension);
            }
        }
    }
}

} // namespace

TypeId
TransportGuard::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::TransportGuard").SetParent<IpL4Protocol>().SetGroupName("Viaduct");
    return tid;
}

Ptr<TransportGuard>
TransportGuard::InstallUnlessGuarded(Ptr<Node> node)
{
    Ptr<UdpL4Protocol> udp = node->GetObject<UdpL4Protocol>();
    return udp && IsAlone(node->GetObject<Ipv4L3Protocol>(), udp) &&
                   IsAlone(node->GetObject<Ipv6L3Protocol>(), udp)
               ? Install(node)
               : nullptr;
}

Ptr<TransportGuard>
TransportGuard::Install(Ptr<Node> node)
{
    const auto drops = std::make_shared<uint64_t>(0);
    const auto guard = [&](Ptr<IpL4Protocol> inner) {
        Ptr<TransportGuard> guard = CreateObject<TransportGuard>();
        guard->m_node = node;
        guard->m_inner = inner;
        guard->m_drops = drops;
        InsertOnAll(node->GetObject<Ipv4L3Protocol>(), guard);
        InsertOnAll(node->GetObject<Ipv6L3Protocol>(), guard);
        return guard;
    };
    Ptr<UdpL4Protocol> udp = node->GetObject<UdpL4Protocol>();
    if (!udp)
    {
        return nullptr;
    }
    ForgetSecurity(node);
    TakeAdvertisementsWithoutAddress(node);
    if (Ptr<TcpL4Protocol> tcp = node->GetObject<TcpL4Protocol>())
    {
        guard(tcp);
    }
    if (Ptr<Icmpv4L4Protocol> icmp = node->GetObject<Icmpv4L4Protocol>())
    {
        guard(icmp);
    }
    return guard(udp);
}

void
TransportGuard::DoDispose()
{
    m_node = nullptr;
    m_inner = nullptr;
    IpL4Protocol::DoDispose();
}

int
TransportGuard::GetProtocolNumber() const
{
    return m_inner->GetProtocolNumber();
}

IpL4Protocol::RxStatus
TransportGuard::Receive(Ptr<Packet> p, const Ipv4Header& header, Ptr<Ipv4Interface> interface)
{
    return ReceiveAny(p, header, interface);
}

IpL4Protocol::RxStatus
TransportGuard::Receive(Ptr<Packet> p, const Ipv6Header& header, Ptr<Ipv6Interface> interface)
{
    return ReceiveAny(p, header, interface);
}

template <typename Header, typename Interface>
IpL4Protocol::RxStatus
TransportGuard::ReceiveAny(Ptr<Packet> p, const Header& header, Ptr<Interface> interface)
{
    if (!IsHarmful(p))
    {
        const bool mayStop = GetProtocolNumber() == TcpL4Protocol::PROT_NUMBER && MayStopSending(p);
        const RxStatus status = m_inner->Receive(p, header, interface);
        if (mayStop)
        {
            for (const Ptr<Socket>& socket : ns3access::SocketsOf(m_inner))
            {
                ns3access::ProbeOnlyWithData(socket);
            }
        }
        return status;
    }
    NS_LOG_WARN("node " << m_node->GetId() << ": dropped a malformed packet from "
                        << header.GetSource());
    ++*m_drops;
    return RX_OK;
}

bool
TransportGuard::IsHarmful(Ptr<const Packet> segment) const
{
    std::vector<uint8_t> copy(segment->GetSize());
    segment->CopyData(copy.data(), copy.size());
    const wire::ConstBytes bytes = std::as_bytes(std::span(copy));
    if (!IsReadableSegment(static_cast<uint8_t>(GetProtocolNumber()), bytes))
    {
        return true;
    }
    if (GetProtocolNumber() != UdpL4Protocol::PROT_NUMBER)
    {
        return false;
    }
    const auto udp = wire::UdpHeader::Parse(bytes);
    Ptr<Ipv4> ipv4 = m_node->GetObject<Ipv4>();
    return !IsReadableDatagram({udp->source_port, udp->destination_port},
                               bytes.subspan(wire::UdpHeader::kSize),
                               [&](Ipv4Address address) {
                                   return ipv4 && ipv4->GetInterfaceForAddress(address) >= 0;
                               }) &&
           IsBound(udp->destination_port);
}

bool
TransportGuard::IsBound(uint16_t port) const
{
    const auto sockets = ns3access::SocketsOf(m_inner);
    return std::any_of(
        sockets.begin(), sockets.end(), [&](const auto& socket) { return PortOf(socket) == port; });
}

void
TransportGuard::SetDownTarget(DownTargetCallback cb)
{
    m_inner->SetDownTarget(cb);
}

void
TransportGuard::SetDownTarget6(DownTargetCallback6 cb)
{
    m_inner->SetDownTarget6(cb);
}

IpL4Protocol::DownTargetCallback
TransportGuard::GetDownTarget() const
{
    return m_inner->GetDownTarget();
}

IpL4Protocol::DownTargetCallback6
TransportGuard::GetDownTarget6() const
{
    return m_inner->GetDownTarget6();
}

} // namespace ns3
