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
 * Conversions between ns-3's addresses and those of viaduct::wire.
 */
namespace ns3::wireconversion
{

/**
 * @param address an address
 * @return the same address
 */
inline viaduct::wire::IpAddress
ToWire(const Ipv4Address& address)
{
    return viaduct::wire::IpAddress::FromIpv4(address.Get());
}

/** @copydoc ToWire(const Ipv4Address&) */
inline viaduct::wire::IpAddress
ToWire(const Ipv6Address& address)
{
    viaduct::wire::IpAddress result;
    result.family = viaduct::wire::Family::kIpv6;
    address.GetBytes(result.bytes.data());
    return result;
}

/** @copydoc ToWire(const Ipv4Address&) */
inline viaduct::wire::MacAddress
ToWire(const Mac48Address& address)
{
    viaduct::wire::MacAddress result;
    address.CopyTo(result.bytes.data());
    return result;
}

/** @copydoc ToWire(const Ipv4Address&) */
inline Mac48Address
ToMac48(const viaduct::wire::MacAddress& address)
{
    Mac48Address result;
    result.CopyFrom(address.bytes.data());
    return result;
}

/**
 * @param address an address of an interface
 * @return the same address with the length of its network's prefix
 */
inline viaduct::wire::IpPrefix
ToWire(const Ipv4InterfaceAddress& address)
{
    return {ToWire(address.GetLocal()), address.GetMask().GetPrefixLength()};
}

/** @copydoc ToWire(const Ipv4InterfaceAddress&) */
inline viaduct::wire::IpPrefix
ToWire(const Ipv6InterfaceAddress& address)
{
    return {ToWire(address.GetAddress()), address.GetPrefix().GetPrefixLength()};
}

/**
 * @param address an IPv4 address
 * @return the same address
 */
inline Ipv4Address
ToIpv4(const viaduct::wire::IpAddress& address)
{
    const auto& b = address.bytes;
    return Ipv4Address(uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | b[3]);
}

/**
 * @param address an IPv6 address
 * @return the same address
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
