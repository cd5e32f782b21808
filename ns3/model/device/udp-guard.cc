/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "udp-guard.h"

#include "datagram-check.h"

#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv4-interface.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv6-interface.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/log.h"
#include "ns3/ns3-access.h"
#include "ns3/udp-l4-protocol.h"

#include "wire/transport.h"

#include <algorithm>
#include <span>
#include <vector>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("UdpGuard");

NS_OBJECT_ENSURE_REGISTERED(UdpGuard);

namespace
{

namespace wire = viaduct::wire;

/** @return the local port of a socket; 0 if it has none */
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
InsertOnAll(Ptr<Stack> stack, Ptr<UdpGuard> guard)
{
    for (uint32_t i = 0; stack && i < stack->GetNInterfaces(); ++i)
    {
        stack->Insert(guard, i);
    }
}

} // namespace

TypeId
UdpGuard::GetTypeId()
{
    static TypeId tid = TypeId("ns3::UdpGuard").SetParent<IpL4Protocol>().SetGroupName("Viaduct");
    return tid;
}

Ptr<UdpGuard>
UdpGuard::Install(Ptr<Node> node)
{
    Ptr<UdpL4Protocol> udp = node->GetObject<UdpL4Protocol>();
    if (!udp)
    {
        return nullptr;
    }
    Ptr<UdpGuard> guard = CreateObject<UdpGuard>();
    guard->m_node = node;
    guard->m_inner = udp;
    InsertOnAll(node->GetObject<Ipv4L3Protocol>(), guard);
    InsertOnAll(node->GetObject<Ipv6L3Protocol>(), guard);
    return guard;
}

void
UdpGuard::DoDispose()
{
    m_node = nullptr;
    m_inner = nullptr;
    IpL4Protocol::DoDispose();
}

int
UdpGuard::GetProtocolNumber() const
{
    return UdpL4Protocol::PROT_NUMBER;
}

IpL4Protocol::RxStatus
UdpGuard::Receive(Ptr<Packet> p, const Ipv4Header& header, Ptr<Ipv4Interface> interface)
{
    return ReceiveAny(p, header, interface);
}

IpL4Protocol::RxStatus
UdpGuard::Receive(Ptr<Packet> p, const Ipv6Header& header, Ptr<Ipv6Interface> interface)
{
    return ReceiveAny(p, header, interface);
}

template <typename Header, typename Interface>
IpL4Protocol::RxStatus
UdpGuard::ReceiveAny(Ptr<Packet> p, const Header& header, Ptr<Interface> interface)
{
    if (!IsHarmful(p))
    {
        return m_inner->Receive(p, header, interface);
    }
    NS_LOG_WARN("node " << m_node->GetId() << ": dropped a malformed datagram from "
                        << header.GetSource());
    m_drops++;
    return RX_OK;
}

bool
UdpGuard::IsHarmful(Ptr<const Packet> datagram) const
{
    std::vector<uint8_t> copy(datagram->GetSize());
    datagram->CopyData(copy.data(), copy.size());
    const wire::ConstBytes bytes = std::as_bytes(std::span(copy));
    const auto udp = wire::UdpHeader::Parse(bytes);
    if (!udp)
    {
        return true;
    }
    Ptr<Ipv4> ipv4 = m_node->GetObject<Ipv4>();
    return !IsReadableDatagram({udp->source_port, udp->destination_port},
                               bytes.subspan(wire::UdpHeader::kSize),
                               [&](Ipv4Address address) {
                                   return ipv4 && ipv4->GetInterfaceForAddress(address) >= 0;
                               }) &&
           IsBound(udp->destination_port);
}

bool
UdpGuard::IsBound(uint16_t port) const
{
    const auto sockets = ns3access::SocketsOf(m_inner);
    return std::any_of(
        sockets.begin(), sockets.end(), [&](const auto& socket) { return PortOf(socket) == port; });
}

void
UdpGuard::SetDownTarget(DownTargetCallback cb)
{
    m_inner->SetDownTarget(cb);
}

void
UdpGuard::SetDownTarget6(DownTargetCallback6 cb)
{
    m_inner->SetDownTarget6(cb);
}

IpL4Protocol::DownTargetCallback
UdpGuard::GetDownTarget() const
{
    return m_inner->GetDownTarget();
}

IpL4Protocol::DownTargetCallback6
UdpGuard::GetDownTarget6() const
{
    return m_inner->GetDownTarget6();
}

} // namespace ns3
