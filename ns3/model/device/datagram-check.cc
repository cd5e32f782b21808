/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "datagram-check.h"

#include <set>

namespace ns3
{

namespace
{

using viaduct::wire::ConstBytes;
using viaduct::wire::Load16;
using viaduct::wire::Load32;
using viaduct::wire::Load8;
using IsOwn = std::function<bool(Ipv4Address)>;

constexpr uint16_t OLSR_PORT = 698;
constexpr uint16_t RIP_PORT = 520;
constexpr uint16_t RIPNG_PORT = 521;
constexpr uint16_t DSDV_PORT = 269;
constexpr uint16_t AODV_PORT = 654;
constexpr size_t ADDRESS = 4; //!< bytes of an IPv4 address

/** @return whether ns-3 can read the links of a HELLO message (RFC 3626, section 6.1) */
bool
AreLinksReadable(ConstBytes links, const IsOwn& isOwn)
{
    constexpr size_t HEADER = 4;
    constexpr uint8_t TYPE_MASK = 3;
    while (!links.empty())
    {
        const size_t size = links.size() < HEADER ? 0 : Load16(&links[2]);
        if (size < HEADER || size > links.size() || size % ADDRESS != 0)
        {
            return false;
        }
        const bool unspecified = (Load8(links.data()) & TYPE_MASK) == 0;
        for (size_t at = HEADER; unspecified && at < size; at += ADDRESS)
        {
            // Permitted by the RFC; ns-3 ends with "bad link type".
            if (isOwn(Ipv4Address(Load32(&links[at]))))
            {
                return false;
            }
        }
        links = links.subspan(size);
    }
    return true;
}

/** @return whether ns-3 can read the body of an OLSR message of this type */
bool
IsOlsrBodyReadable(uint8_t type, ConstBytes body, const IsOwn& isOwn)
{
    constexpr size_t PREFIX = 4; // of HELLO and TC, before what they list
    switch (type)
    {
    case 1: // HELLO
        return body.size() >= PREFIX && AreLinksReadable(body.subspan(PREFIX), isOwn);
    case 2: // TC
        return body.size() >= PREFIX && body.size() % ADDRESS == 0;
    case 3: // MID
        return body.size() % ADDRESS == 0;
    case 4: // HNA
        return body.size() % (2 * ADDRESS) == 0;
    default:
        return false;
    }
}

bool
IsOlsrReadable(ConstBytes packet, const IsOwn& isOwn)
{
    constexpr size_t PACKET_HEADER = 4;
    constexpr size_t MESSAGE_HEADER = 12;
    const size_t length = packet.size() < PACKET_HEADER ? 0 : Load16(packet.data());
    if (length < PACKET_HEADER || length > packet.size())
    {
        return false;
    }
    ConstBytes rest = packet.subspan(PACKET_HEADER, length - PACKET_HEADER);
    while (!rest.empty())
    {
        const size_t size = rest.size() < MESSAGE_HEADER ? 0 : Load16(&rest[2]);
        if (size < MESSAGE_HEADER || size > rest.size() ||
            !IsOlsrBodyReadable(
                Load8(rest.data()), rest.subspan(MESSAGE_HEADER, size - MESSAGE_HEADER), isOwn))
        {
            return false;
        }
        rest = rest.subspan(size);
    }
    return true;
}

/** @return whether ns-3 can read a route error (RFC 3561, section 5.3), after its type */
bool
IsRouteErrorReadable(ConstBytes body)
{
    constexpr size_t HEADER = 3;
    constexpr size_t DESTINATION = 8; // address and sequence number
    const size_t count = body.size() < HEADER ? 0 : Load8(&body[2]);
    if (body.size() < HEADER + count * DESTINATION)
    {
        return false;
    }
    std::set<uint32_t> addresses; // ns-3 expects as many as there are entries
    for (size_t i = 0; i < count; i++)
    {
        addresses.insert(Load32(&body[HEADER + i * DESTINATION]));
    }
    return addresses.size() == count;
}

bool
IsAodvReadable(ConstBytes packet)
{
    if (packet.empty())
    {
        return false;
    }
    switch (Load8(packet.data()))
    {
    case 1: // request
        return packet.size() >= 24;
    case 2: // reply
        return packet.size() >= 20;
    case 3:
        return IsRouteErrorReadable(packet.subspan(1));
    default: // an acknowledgement, or ignored by ns-3
        return true;
    }
}

} // namespace

bool
IsReadableDatagram(DatagramPorts ports, ConstBytes payload, const IsOwn& isOwn)
{
    constexpr size_t RIP_HEADER = 4;
    constexpr size_t DSDV_ENTRY = 12;
    switch (ports.destination)
    {
    case OLSR_PORT:
        return ports.source == OLSR_PORT && IsOlsrReadable(payload, isOwn);
    case RIP_PORT:
    case RIPNG_PORT:
        return payload.size() >= RIP_HEADER;
    case DSDV_PORT:
        return payload.size() % DSDV_ENTRY == 0;
    case AODV_PORT:
        return IsAodvReadable(payload);
    default:
        return true;
    }
}

} // namespace ns3
