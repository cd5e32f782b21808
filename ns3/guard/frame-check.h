/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_FRAME_CHECK_H
#define VIADUCT_FRAME_CHECK_H

#include "base/wire/bytes.h"
#include "base/wire/ethernet.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief Returns whether ns-3 can parse a packet.
 *
 * ns-3's headers trust their input: a packet shorter than its length fields ends the simulator.
 *
 * @param protocol EtherType; protocols other than IPv4, IPv6 and ARP always pass
 * @param packet the network header and the bytes after it, including the frame's padding
 * @return true if every length in the IP and ARP headers and IPv6's extension headers, and in the
 * UDP, TCP and ICMP header of an unfragmented packet, agrees with the packet's length, and if ns-3
 * can read the message of an ICMPv6 packet. (Packets to the node's own addresses are also checked
 * by the node's TransportGuard.)
 */
bool IsParsable(uint16_t protocol, viaduct::wire::ConstBytes packet);

/**
 * @ingroup viaduct
 * @brief Returns whether a packet has IPv4 options. ns-3 skips options when it reads a header. When
 * it forwards the packet, it writes a header that has no options and a wrong length field.
 *
 * @param protocol EtherType
 * @param packet a packet for which IsParsable() returns true
 * @return true if the packet has IPv4 options
 */
inline bool
HasIpv4Options(uint16_t protocol, viaduct::wire::ConstBytes packet)
{
    return protocol == viaduct::wire::ether_type::kIpv4 &&
           viaduct::wire::Load8(packet.data()) != 0x45;
}

/**
 * @ingroup viaduct
 * @param mtu the interface's MTU, bytes
 * @param protocol EtherType
 * @return the maximum payload of a frame of this EtherType, in bytes: the MTU, plus the size of the
 * VLAN tag if the frame has a VLAN tag
 */
inline uint32_t
LongestPayload(uint16_t mtu, uint16_t protocol)
{
    return mtu + (protocol == viaduct::wire::ether_type::kVlan ? viaduct::wire::VlanTag::kSize : 0);
}

/**
 * @ingroup viaduct
 * @param protocol EtherType
 * @return whether the EtherType is IPv4 or IPv6
 */
inline bool
IsIp(uint16_t protocol)
{
    return protocol == viaduct::wire::ether_type::kIpv4 ||
           protocol == viaduct::wire::ether_type::kIpv6;
}

} // namespace ns3

#endif /* VIADUCT_FRAME_CHECK_H */
