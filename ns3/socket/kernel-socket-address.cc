/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/socket/kernel-socket-address.h"

#include "ns3/base/wire-conversion.h"
#include "ns3/socket/kernel-socket-stack.h"

#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6.h"
#include "ns3/net-device.h"

#include <cerrno>
#include <sys/socket.h>

namespace ns3::kernelsocket
{

using viaduct::guest::agent::Endpoint;

std::optional<Endpoint>
ToEndpoint(const Address& address)
{
    using viaduct::guest::agent::ToEndpoint;
    using wireconversion::ToWire;
    if (InetSocketAddress::IsMatchingType(address))
    {
        const auto ipv4 = InetSocketAddress::ConvertFrom(address);
        return ToEndpoint(ToWire(ipv4.GetIpv4()), ipv4.GetPort());
    }
    if (Inet6SocketAddress::IsMatchingType(address))
    {
        const auto ipv6 = Inet6SocketAddress::ConvertFrom(address);
        return ToEndpoint(ToWire(ipv6.GetIpv6()), ipv6.GetPort());
    }
    if (Ipv4Address::IsMatchingType(address))
    {
        return ToEndpoint(ToWire(Ipv4Address::ConvertFrom(address)));
    }
    if (Ipv6Address::IsMatchingType(address))
    {
        return ToEndpoint(ToWire(Ipv6Address::ConvertFrom(address)));
    }
    return std::nullopt;
}

Address
FromEndpoint(const Endpoint& endpoint)
{
    if (endpoint.family == AF_INET)
    {
        return InetSocketAddress(Ipv4Address::Deserialize(endpoint.address), endpoint.port);
    }
    if (endpoint.family == AF_INET6)
    {
        return Inet6SocketAddress(Ipv6Address::Deserialize(endpoint.address), endpoint.port);
    }
    return Address();
}

Socket::SocketErrno
ToSocketErrno(int errorNumber)
{
    switch (errorNumber)
    {
    case 0:
        return Socket::ERROR_NOTERROR;
    case EISCONN:
    case EALREADY:
    case EINPROGRESS:
        return Socket::ERROR_ISCONN;
    case EMSGSIZE:
        return Socket::ERROR_MSGSIZE;
    case EAGAIN:
    case ENOBUFS:
    case ENOMEM:
        return Socket::ERROR_AGAIN;
    case EPIPE:
    case ESHUTDOWN:
        return Socket::ERROR_SHUTDOWN;
    case EOPNOTSUPP:
    case ENOPROTOOPT:
    case EPROTONOSUPPORT:
    case ESOCKTNOSUPPORT:
        return Socket::ERROR_OPNOTSUPP;
    case EAFNOSUPPORT:
        return Socket::ERROR_AFNOSUPPORT;
    case EBADF:
        return Socket::ERROR_BADF;
    case ENETUNREACH:
    case EHOSTUNREACH:
    case EACCES: // error for a broadcast that SetAllowBroadcast() does not allow
        return Socket::ERROR_NOROUTETOHOST;
    case ENODEV:
        return Socket::ERROR_NODEV;
    case EADDRNOTAVAIL:
        return Socket::ERROR_ADDRNOTAVAIL;
    case EADDRINUSE:
        return Socket::ERROR_ADDRINUSE;
    case ENOTCONN:
    case ECONNREFUSED:
    case ECONNRESET:
    case ECONNABORTED:
    case ETIMEDOUT:
        return Socket::ERROR_NOTCONN;
    default:
        return Socket::ERROR_INVAL;
    }
}

bool
IsGroup(const Endpoint& endpoint)
{
    return endpoint.family == AF_INET6 ? Ipv6Address::Deserialize(endpoint.address).IsMulticast()
                                       : Ipv4Address::Deserialize(endpoint.address).IsMulticast();
}

int
InterfaceIndex(Ptr<Node> node, uint32_t interface, bool ipv6)
{
    Ptr<NetDevice> device;
    if (ipv6 && node->GetObject<Ipv6>())
    {
        device = node->GetObject<Ipv6>()->GetNetDevice(interface);
    }
    else if (!ipv6 && node->GetObject<Ipv4>())
    {
        device = node->GetObject<Ipv4>()->GetNetDevice(interface);
    }
    return device ? node->GetObject<KernelSocketStack>()->GetInterfaceIndex(device) : 0;
}

} // namespace ns3::kernelsocket
