/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "frame-check.h"

/**
 * @file
 * @ingroup viaduct
 * Checks of packets from outside before ns-3 sees them.
 */

namespace ns3
{

namespace
{

constexpr uint32_t IPV4_MINIMUM = 20; //!< RFC 791, section 3.1
constexpr uint32_t IPV6_HEADER = 40;  //!< RFC 8200, section 3
constexpr uint32_t ARP_LENGTH = 28;   //!< RFC 826, for Ethernet and IPv4

/**
 * @param bytes big-endian
 * @return 16 bits of them
 */
uint32_t
Get16(const uint8_t* bytes)
{
    return bytes[0] << 8 | bytes[1];
}

/**
 * @param protocol IP protocol number
 * @param bytes transport header
 * @param length of the packet from there on
 * @return true if ns-3 can parse it
 */
bool
IsTransportParsable(uint8_t protocol, const uint8_t* bytes, uint32_t length)
{
    switch (protocol)
    {
    case 1:  // ICMP
    case 58: // ICMPv6
        return length >= 8;
    case 6: { // TCP
        if (length < 20)
        {
            return false;
        }
        const uint32_t offset = (bytes[12] >> 4) * 4;
        return offset >= 20 && offset <= length;
    }
    case 17: // UDP
        return length >= 8 && Get16(bytes + 4) >= 8 && Get16(bytes + 4) <= length;
    default:
        return true;
    }
}

/**
 * @param bytes packet
 * @param length of it
 * @return true if ns-3 can parse it
 */
bool
IsIpv4Parsable(const uint8_t* bytes, uint32_t length)
{
    if (length < IPV4_MINIMUM || bytes[0] >> 4 != 4)
    {
        return false;
    }
    const uint32_t header = (bytes[0] & 0xf) * 4;
    const uint32_t total = Get16(bytes + 2);
    if (header < IPV4_MINIMUM || total < header || total > length)
    {
        return false;
    }
    constexpr uint32_t MORE_FRAGMENTS_OR_OFFSET = 0x3fff;
    const bool fragment = (Get16(bytes + 6) & MORE_FRAGMENTS_OR_OFFSET) != 0;
    return fragment || IsTransportParsable(bytes[9], bytes + header, total - header);
}

/**
 * @param bytes packet
 * @param length of it
 * @return true if ns-3 can parse it
 */
bool
IsIpv6Parsable(const uint8_t* bytes, uint32_t length)
{
    if (length < IPV6_HEADER || bytes[0] >> 4 != 6)
    {
        return false;
    }
    const uint32_t payload = Get16(bytes + 4);
    return payload <= length - IPV6_HEADER &&
           IsTransportParsable(bytes[6], bytes + IPV6_HEADER, payload);
}

} // namespace

bool
IsParsable(uint16_t protocol, const uint8_t* bytes, uint32_t length)
{
    switch (protocol)
    {
    case 0x0800:
        return IsIpv4Parsable(bytes, length);
    case 0x86dd:
        return IsIpv6Parsable(bytes, length);
    case 0x0806: // hardware Ethernet, protocol IPv4, address lengths 6 and 4
        return length >= ARP_LENGTH && Get16(bytes) == 1 && Get16(bytes + 2) == 0x0800 &&
               bytes[4] == 6 && bytes[5] == 4;
    default:
        return true;
    }
}

} // namespace ns3
