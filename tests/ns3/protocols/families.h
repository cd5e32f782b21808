/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

/**
 * @file
 * What differs between IPv4 and IPv6 for the protocols of strange-routing.cc.
 */

#ifndef STRANGE_FAMILIES_H
#define STRANGE_FAMILIES_H

#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv4-route.h"
#include "ns3/ipv4-routing-protocol.h"
#include "ns3/ipv4.h"
#include "ns3/ipv6-header.h"
#include "ns3/ipv6-route.h"
#include "ns3/ipv6-routing-protocol.h"
#include "ns3/ipv6.h"

namespace strange
{

using namespace ns3;

/** The names of IPv4. */
struct Four
{
    using Protocol = Ipv4RoutingProtocol;
    using Layer = Ipv4;
    using Header = Ipv4Header;
    using Route = Ipv4Route;
    using Address = Ipv4Address;
    using Forward = Protocol::UnicastForwardCallback;
    static constexpr const char* NAME = "strange::Routing";
    static constexpr const char* RAW = "ns3::Ipv4RawSocketFactory";
    static constexpr const char* ALL_MASK = "255.255.255.255";

    static Address Nobody()
    {
        return Ipv4Address::GetAny();
    }

    static Address AddressOf(Ptr<Ipv4> ip, uint32_t i, uint32_t j)
    {
        return ip->GetAddress(i, j).GetLocal();
    }

    static ns3::Address Group(uint16_t port, bool isRaw)
    {
        // RFC 5498: LL-MANET-Routers
        return InetSocketAddress(isRaw ? "224.0.0.109" : "255.255.255.255", port);
    }

    static ns3::Address Any(uint16_t port)
    {
        return InetSocketAddress(Ipv4Address::GetAny(), port);
    }

    static bool IsRouted(const Address& address)
    {
        return !address.IsMulticast() && !address.IsBroadcast() && !address.IsLocalhost() &&
               address != Ipv4Address::GetAny();
    }
};

/** The names of IPv6. */
struct Six
{
    using Protocol = Ipv6RoutingProtocol;
    using Layer = Ipv6;
    using Header = Ipv6Header;
    using Route = Ipv6Route;
    using Address = Ipv6Address;
    using Forward = Protocol::UnicastForwardCallback;
    static constexpr const char* NAME = "strange::Routing6";
    static constexpr const char* RAW = "ns3::Ipv6RawSocketFactory";
    static constexpr const char* ALL_MASK = "128";

    static Address Nobody()
    {
        return Ipv6Address::GetAny();
    }

    static Address AddressOf(Ptr<Ipv6> ip, uint32_t i, uint32_t j)
    {
        return ip->GetAddress(i, j).GetAddress();
    }

    static ns3::Address Group(uint16_t port, bool isRaw)
    {
        return Inet6SocketAddress(isRaw ? "ff02::6d" : "ff02::1", port);
    }

    static ns3::Address Any(uint16_t port)
    {
        return Inet6SocketAddress(Ipv6Address::GetAny(), port);
    }

    static bool IsRouted(const Address& address)
    {
        return !address.IsMulticast() && !address.IsLinkLocal() && !address.IsLocalhost() &&
               !address.IsAny();
    }
};

} // namespace strange

#endif // STRANGE_FAMILIES_H
