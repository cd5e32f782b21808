/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/socket/kernel-udp-socket.h"

#include "ns3/socket/kernel-socket-address.h"
#include "ns3/socket/kernel-socket-stack.h"

#include "ns3/ipv4.h"
#include "ns3/ipv6.h"
#include "ns3/node.h"

#include <cstring>
#include <netinet/in.h>
#include <span>
#include <sys/socket.h>
#include <type_traits>
#include <vector>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(KernelUdpSocket);

namespace
{

constexpr uint32_t MAX_DATAGRAM = 65507; //!< bytes, the maximum of IPv4, as in ns-3's UDP

/**
 * Returns a function that completes an option's value with the kernel's index of an interface.
 * @param node the node with the interface
 * @param interface an interface number of IPv4 or IPv6; 0: none
 * @param request the value, complete except for the index
 * @param index the member of @p request for the index
 * @return the function
 */
template <class Request, class Index>
KernelSocketCore::LateValue
WithInterface(Ptr<Node> node, uint32_t interface, Request request, Index Request::*index)
{
    return [=]() {
        Request complete = request;
        const bool ipv6 = std::is_same_v<Request, ipv6_mreq>;
        complete.*index = interface == 0 ? 0 : kernelsocket::InterfaceIndex(node, interface, ipv6);
        const auto bytes = std::as_bytes(std::span(&complete, 1));
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
}

} // namespace

TypeId
KernelUdpSocket::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelUdpSocket")
                            .SetParent<UdpSocket>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelUdpSocket>();
    return tid;
}

KernelUdpSocket::KernelUdpSocket()
    : KernelSocketMixin({NS3_SOCK_DGRAM, SOCK_DGRAM, IPPROTO_UDP, false, false, MAX_DATAGRAM})
{
}

int
KernelUdpSocket::Bind(const Address& address)
{
    if (InetSocketAddress::IsMatchingType(address))
    {
        const auto local = InetSocketAddress::ConvertFrom(address).GetIpv4();
        if (local.IsMulticast())
        {
            return BindToGroup(local, address);
        }
    }
    else if (Inet6SocketAddress::IsMatchingType(address))
    {
        const auto local = Inet6SocketAddress::ConvertFrom(address);
        if (local.GetIpv6().IsMulticast())
        {
            return BindToGroup(local.GetIpv6(), local.GetPort());
        }
    }
    return KernelSocketMixin::Bind(address);
}

int
KernelUdpSocket::BindToGroup(const Ipv4Address& group, const Address& address)
{
    if (KernelSocketMixin::Bind(address) != 0)
    {
        return -1;
    }
    const auto ipv4 = GetNode()->GetObject<Ipv4>();
    for (uint32_t interface = 1; ipv4 && interface < ipv4->GetNInterfaces(); interface++)
    {
        ChangeGroup(interface, group, true);
    }
    return 0;
}

// Binds to any address and joins the group on all interfaces, because a kernel binds a socket to a
// link-local group on one interface only.
int
KernelUdpSocket::BindToGroup(const Ipv6Address& group, uint16_t port)
{
    Core().SetPrepare([group](Ptr<Packet>, const KernelSocketCore::Data& data) {
        return data.info && Ipv6Address::Deserialize(data.info->destination.address) == group;
    });
    if (KernelSocketMixin::Bind(Inet6SocketAddress(Ipv6Address::GetAny(), port)) != 0)
    {
        return -1;
    }
    const auto ipv6 = GetNode()->GetObject<Ipv6>();
    for (uint32_t interface = 1; ipv6 && interface < ipv6->GetNInterfaces(); interface++)
    {
        ChangeGroup(interface, group, true);
    }
    return 0;
}

int
KernelUdpSocket::ChangeGroup(uint32_t interface, const Address& group, bool join)
{
    const auto endpoint = kernelsocket::ToEndpoint(group);
    if (!endpoint)
    {
        return -1;
    }
    if (endpoint->family == AF_INET)
    {
        ip_mreqn request{};
        std::memcpy(&request.imr_multiaddr, endpoint->address, sizeof request.imr_multiaddr);
        return Core().SetSockOptLate(
            IPPROTO_IP,
            join ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP,
            WithInterface(GetNode(), interface, request, &ip_mreqn::imr_ifindex));
    }
    ipv6_mreq request{};
    std::memcpy(&request.ipv6mr_multiaddr, endpoint->address, sizeof request.ipv6mr_multiaddr);
    return Core().SetSockOptLate(
        IPPROTO_IPV6,
        join ? IPV6_ADD_MEMBERSHIP : IPV6_DROP_MEMBERSHIP,
        WithInterface(GetNode(), interface, request, &ipv6_mreq::ipv6mr_interface));
}

void
KernelUdpSocket::Ipv6JoinGroup(Ipv6Address address,
                               Socket::Ipv6MulticastFilterMode,
                               std::vector<Ipv6Address> sourceAddresses)
{
    NS_ABORT_MSG_UNLESS(sourceAddresses.empty(),
                        "ns3::KernelUdpSocket: source-specific multicast is not supported");
    m_ipv6MulticastGroupAddress = address;
    ChangeGroup(0, address, true);
}

void
KernelUdpSocket::Ipv6LeaveGroup()
{
    ChangeGroup(0, m_ipv6MulticastGroupAddress, false);
}

void
KernelUdpSocket::SetMtuDiscover(bool discover)
{
    if (std::exchange(m_mtuDiscover, discover) != discover)
    {
        // With IP_PMTUDISC_WANT, its default, the kernel fragments packets that it sends itself.
        Core().SetSockOpt(
            IPPROTO_IP, IP_MTU_DISCOVER, discover ? IP_PMTUDISC_DO : IP_PMTUDISC_WANT);
    }
}

} // namespace ns3
