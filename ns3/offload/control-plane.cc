/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/offload/control-plane.h"

#include "ns3/base/ns3-access.h"
#include "ns3/base/poll-phase.h"

#include "ns3/arp-l3-protocol.h"
#include "ns3/boolean.h"
#include "ns3/icmpv4-l4-protocol.h"
#include "ns3/icmpv6-l4-protocol.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ip-l4-protocol.h"
#include "ns3/ipv4-l3-protocol.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv6-l3-protocol.h"
#include "ns3/ipv6-route.h"
#include "ns3/log.h"
#include "ns3/simulator.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/udp-l4-protocol.h"
#include "ns3/uinteger.h"

#include "base/error.h"
#include "base/wire/ip.h"

#include <optional>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("ControlPlane");

NS_OBJECT_ENSURE_REGISTERED(ControlPlane);

using viaduct::wire::Family;

namespace
{

namespace ip_protocol = viaduct::wire::ip_protocol;

/** @return whether an IP protocol number is the number of an IPv6 extension header; ns-3 handles
 * extension headers like protocols */
bool
IsExtension(int number)
{
    return number == 0 || number == 43 || number == 44 || number == 50 || number == 51 ||
           number == 59 || number == 60;
}

bool
IsLoopback(const Ipv6Address& address)
{
    return address.IsLocalhost() ||
           (address.IsIpv4MappedAddress() && address.GetIpv4MappedAddress().IsLocalhost());
}

/** @return the claim of a UDP socket; nothing if the socket is unbound or bound to loopback */
std::optional<ControlPlane::Claim>
ClaimOf(Ptr<Socket> socket)
{
    using Claim = ControlPlane::Claim;
    Address address;
    if (socket->GetSockName(address) != 0)
    {
        return std::nullopt;
    }
    if (InetSocketAddress::IsMatchingType(address))
    {
        const InetSocketAddress name = InetSocketAddress::ConvertFrom(address);
        if (name.GetPort() != 0 && !name.GetIpv4().IsLocalhost())
        {
            return Claim{Claim::Kind::kUdp, Family::kIpv4, name.GetPort()};
        }
    }
    else if (Inet6SocketAddress::IsMatchingType(address))
    {
        const Inet6SocketAddress name = Inet6SocketAddress::ConvertFrom(address);
        if (name.GetPort() != 0 && !IsLoopback(name.GetIpv6()))
        {
            return Claim{Claim::Kind::kUdp, Family::kIpv6, name.GetPort()};
        }
    }
    return std::nullopt;
}

/** @return a down target of a transport protocol that discards packets */
template <class Address, class Route>
auto
Nowhere()
{
    return Callback<void, Ptr<Packet>, Address, Address, uint8_t, Ptr<Route>>(
        [](Ptr<Packet>, Address, Address, uint8_t, Ptr<Route>) {});
}

bool
Concerns(Ptr<Socket> socket, Ptr<NetDevice> device)
{
    Ptr<NetDevice> bound = socket->GetBoundNetDevice();
    return !bound || bound == device;
}

std::string
Text(const ControlPlane::Claim& claim)
{
    const std::string number = std::to_string(claim.number);
    const std::string family = claim.family == Family::kIpv4 ? "IPv4" : "IPv6";
    switch (claim.kind)
    {
    case ControlPlane::Claim::Kind::kUdp:
        return family + " UDP port " + number;
    case ControlPlane::Claim::Kind::kRawIp:
        return family + " protocol " + number;
    default:
        return "EtherType " + number;
    }
}

} // namespace

TypeId
ControlPlane::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::ControlPlane")
            .SetParent<Object>()
            .SetGroupName("Viaduct")
            .AddConstructor<ControlPlane>()
            .AddAttribute("ScanInterval",
                          "The interval at which the node is scanned for new sockets. A socket "
                          "that a protocol opens during the run receives no packets until the next "
                          "scan, or until the socket sends its first packet.",
                          TimeValue(MilliSeconds(500)),
                          MakeTimeAccessor(&ControlPlane::m_scanInterval),
                          MakeTimeChecker(MicroSeconds(1)))
            .AddTraceSource("Opened",
                            "A kernel socket was opened for a protocol.",
                            MakeTraceSourceAccessor(&ControlPlane::m_openedTrace),
                            "ns3::ControlPlane::OpenedTracedCallback");
    return tid;
}

void
ControlPlane::DoDispose()
{
    m_scan.Cancel();
    m_interfaces.clear();
    m_open = nullptr;
    m_node = nullptr;
    Object::DoDispose();
}

void
ControlPlane::SetNode(Ptr<Node> node, const viaduct::fib::DataPlane& plane, Open open)
{
    m_node = node;
    m_plane = &plane;
    m_open = std::move(open);
}

void
ControlPlane::LeaveIcmpToKernel(Ptr<Node> node)
{
    if (Ptr<IpL4Protocol> icmp = node->GetObject<Icmpv4L4Protocol>())
    {
        icmp->SetDownTarget(Nowhere<Ipv4Address, Ipv4Route>());
    }
    const auto silence = [](Ptr<IpL4Protocol> icmp) {
        // DAD is switched off, because its packets do not pass through the down target.
        icmp->SetAttribute("DAD", BooleanValue(false));
        icmp->SetDownTarget6(Nowhere<Ipv6Address, Ipv6Route>());
    };
    const Ptr<IpL4Protocol> icmpv6 = node->GetObject<Icmpv6L4Protocol>();
    const auto ipv6 = node->GetObject<Ipv6L3Protocol>();
    if (icmpv6)
    {
        silence(icmpv6);
    }
    for (uint32_t i = 0; icmpv6 && ipv6 && i < ipv6->GetNInterfaces(); i++)
    {
        silence(ipv6->GetProtocol(icmpv6->GetProtocolNumber(), static_cast<int32_t>(i)));
    }
}

void
ControlPlane::AddInterface(Ptr<NetDevice> device,
                           const std::string& name,
                           viaduct::io::ControlPort* port)
{
    m_interfaces.emplace_back(Interface{device, name, port, {}, {}, {}});
}

void
ControlPlane::Start()
{
    Scan();
    m_scan = Simulator::Schedule(
        PollPhase(m_node, m_scanInterval, 0), &ControlPlane::ScanAndSchedule, this);
}

void
ControlPlane::ScanAndSchedule()
{
    Scan();
    m_scan = Simulator::Schedule(m_scanInterval, &ControlPlane::ScanAndSchedule, this);
}

void
ControlPlane::Scan()
{
    if (!m_ipProtocolsFound)
    {
        FindIpProtocols(m_ipProtocols);
        m_ipProtocolsFound = true;
    }
    for (Interface& interface : m_interfaces)
    {
        for (const Claim& claim : FindClaims(interface.device))
        {
            if (!interface.claims.contains(claim) && !interface.refused.contains(claim))
            {
                OpenClaim(interface, claim);
            }
        }
    }
}

void
ControlPlane::OpenClaim(Interface& interface, const Claim& claim)
{
    if (!interface.port && claim.kind != Claim::Kind::kUdp)
    {
        // If the interface has no port, only UDP sockets are opened, so that the kernel does not
        // answer with "port unreachable".
        return;
    }
    if (interface.port && interface.port->HasSocket(claim))
    {
        interface.claims.insert(claim);
        return;
    }
    try
    {
        viaduct::UniqueFd socket = m_open(interface.name, claim);
        if (interface.port)
        {
            interface.port->AddSocket(claim, std::move(socket));
        }
        else
        {
            interface.held[claim] = std::move(socket);
        }
        interface.claims.insert(claim);
        NS_LOG_INFO("node " << m_node->GetId() << " " << interface.name << ": " << Text(claim));
        m_openedTrace(m_node->GetId(), interface.name, claim);
    }
    catch (const viaduct::Error& error)
    {
        interface.refused.insert(claim);
        m_unsupported.push_back(interface.name + ": " + Text(claim) + ": " + error.what());
        NS_LOG_WARN("node " << m_node->GetId() << " " << m_unsupported.back());
    }
}

std::set<ControlPlane::Claim>
ControlPlane::FindClaims(Ptr<NetDevice> device) const
{
    std::set<Claim> claims = m_ipProtocols;
    FindUdp(device, claims);
    FindRaw(device, claims);
    FindEtherTypes(device, claims);
    return claims;
}

void
ControlPlane::FindUdp(Ptr<NetDevice> device, std::set<Claim>& claims) const
{
    for (const auto& socket : ns3access::SocketsOf(m_node->GetObject<UdpL4Protocol>()))
    {
        if (const auto claim = ClaimOf(socket); claim && Concerns(socket, device))
        {
            claims.insert(*claim);
        }
    }
}

void
ControlPlane::FindRaw(Ptr<NetDevice> device, std::set<Claim>& claims) const
{
    auto add = [&](const std::vector<Ptr<Socket>>& sockets, Family family) {
        for (const auto& socket : sockets)
        {
            UintegerValue protocol;
            socket->GetAttribute("Protocol", protocol);
            if (protocol.Get() != 0 && Concerns(socket, device))
            {
                claims.insert({Claim::Kind::kRawIp, family, static_cast<uint16_t>(protocol.Get())});
            }
        }
    };
    add(ns3access::RawSockets(m_node->GetObject<Ipv4L3Protocol>()), Family::kIpv4);
    add(ns3access::RawSockets(m_node->GetObject<Ipv6L3Protocol>()), Family::kIpv6);
}

void
ControlPlane::FindIpProtocols(std::set<Claim>& claims) const
{
    auto add = [&](auto ip, Family family) {
        for (int number = 1; ip && number < 256; number++)
        {
            const bool kernels = number == ip_protocol::kIcmp || number == ip_protocol::kTcp ||
                                 number == ip_protocol::kUdp || number == ip_protocol::kIcmpv6;
            if (!kernels && !IsExtension(number) && ip->GetProtocol(number))
            {
                claims.insert({Claim::Kind::kRawIp, family, static_cast<uint16_t>(number)});
            }
        }
    };
    add(m_node->GetObject<Ipv4L3Protocol>(), Family::kIpv4);
    add(m_node->GetObject<Ipv6L3Protocol>(), Family::kIpv6);
}

void
ControlPlane::FindEtherTypes(Ptr<NetDevice> device, std::set<Claim>& claims) const
{
    for (const auto& handler : ns3access::ProtocolHandlers(*m_node))
    {
        const bool ip = handler.protocol == Ipv4L3Protocol::PROT_NUMBER ||
                        handler.protocol == Ipv6L3Protocol::PROT_NUMBER ||
                        handler.protocol == ArpL3Protocol::PROT_NUMBER;
        // Protocol 0 means every EtherType. Only SetControlFilter() can select frames of every
        // EtherType.
        if (!ip && handler.protocol != 0 && (!handler.device || handler.device == device))
        {
            claims.insert({Claim::Kind::kEtherType, Family::kIpv4, handler.protocol});
        }
    }
}

std::vector<std::string>
ControlPlane::GetUnsupported() const
{
    std::vector<std::string> lines = m_unsupported;
    if (!m_node)
    {
        return lines;
    }
    const std::string tcpUnavailable(m_plane->Unavailable(viaduct::fib::Feature::kSimulatedTcp));
    for (const auto& socket : ns3access::SocketsOf(m_node->GetObject<TcpL4Protocol>()))
    {
        const auto claim = ClaimOf(socket);
        if (claim && !tcpUnavailable.empty())
        {
            lines.push_back("TCP port " + std::to_string(claim->number) + ": " + tcpUnavailable);
        }
    }
    for (const auto& handler : ns3access::ProtocolHandlers(*m_node))
    {
        if (handler.protocol == 0)
        {
            lines.push_back("a protocol handler for all EtherTypes; select the frames that the "
                            "handler receives with SetControlFilter()");
        }
    }
    return lines;
}

} // namespace ns3
