/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_WIRE_CONVERSION_H
#define VIADUCT_WIRE_CONVERSION_H

#include "ns3/ipv4-address.h"
#include "ns3/ipv4-interface-address.h"
#include "ns3/ipv6-address.h"
#include "ns3/ipv6-interface-address.h"
#include "ns3/mac48-address.h"

#include "base/wire/address.h"

#include <algorithm>

/**
 * @ingroup viaduct
 * Conversions between the address types of ns-3 and the address types of viaduct::wire.
 */
namespace ns3::wireconversion
{

/**
 * @param address an IPv4 address of ns-3
 * @return the same address as a type of viaduct::wire
 */
inline viaduct::wire::IpAddress
ToWire(const Ipv4Address& address)
{
    return viaduct::wire::IpAddress::FromIpv4(address.Get());
}

/**
 * @param address an IPv6 address of ns-3
 * @return the same address as a type of viaduct::wire
 */
inline viaduct::wire::IpAddress
ToWire(const Ipv6Address& address)
{
    viaduct::wire::IpAddress result;
    result.family = viaduct::wire::Family::kIpv6;
    address.GetBytes(result.bytes.data());
    return result;
}

/**
 * @param address a MAC address of ns-3
 * @return the same address as a type of viaduct::wire
 */
inline viaduct::wire::MacAddress
ToWire(const Mac48Address& address)
{
    viaduct::wire::MacAddress result;
    address.CopyTo(result.bytes.data());
    return result;
}

/**
 * @param address a MAC address of viaduct::wire
 * @return the same address as a type of ns-3
 */
inline Mac48Address
ToMac48(const viaduct::wire::MacAddress& address)
{
    Mac48Address result;
    result.CopyFrom(address.bytes.data());
    return result;
}

/**
 * @param address an interface's IPv4 address of ns-3
 * @return the same address as a type of viaduct::wire, with the length of its network's prefix
 */
inline viaduct::wire::IpPrefix
ToWire(const Ipv4InterfaceAddress& address)
{
    return {ToWire(address.GetLocal()), address.GetMask().GetPrefixLength()};
}

/**
 * @param address an interface's IPv6 address of ns-3
 * @return the same address as a type of viaduct::wire, with the length of its network's prefix
 */
inline viaduct::wire::IpPrefix
ToWire(const Ipv6InterfaceAddress& address)
{
    return {ToWire(address.GetAddress()), address.GetPrefix().GetPrefixLength()};
}

/**
 * @param address an IPv4 address of viaduct::wire
 * @return the same address as a type of ns-3
 */
inline Ipv4Address
ToIpv4(const viaduct::wire::IpAddress& address)
{
    const auto& b = address.bytes;
    return Ipv4Address(uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | b[3]);
}

/**
 * @param address an IPv6 address of viaduct::wire
 * @return the same address as a type of ns-3
 */
inline Ipv6Address
ToIpv6(const viaduct::wire::IpAddress& address)
{
    uint8_t bytes[16];
    std::copy(address.bytes.begin(), address.bytes.end(), bytes);
    return Ipv6Address(bytes);
}

} // namespace ns3::wireconversion

#endif // VIADUCT_WIRE_CONVERSION_H
