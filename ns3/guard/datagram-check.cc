/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/guard/datagram-check.h"

#include <algorithm>
#include <array>
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
constexpr size_t RIP_HEADER = 4;
constexpr size_t RIP_ENTRY = 20;
constexpr uint8_t RIP_INFINITY = 16;

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
            // RFC 3626 permits a link of unspecified type to an address of the receiving node; ns-3
            // ends with "bad link type" when it receives such a link.
            if (isOwn(Ipv4Address(Load32(&links[at]))))
            {
                return false;
            }
        }
        links = links.subspan(size);
    }
    return true;
}

/** @return whether ns-3 can read the body of an OLSR message of a given type */
bool
IsOlsrBodyReadable(uint8_t type, ConstBytes body, const IsOwn& isOwn)
{
    constexpr size_t PREFIX = 4; // bytes of a HELLO or TC body before its list
    switch (type)
    {
    case 1: // OLSR message HELLO
        return body.size() >= PREFIX && AreLinksReadable(body.subspan(PREFIX), isOwn);
    case 2: // OLSR message TC
        return body.size() >= PREFIX && body.size() % ADDRESS == 0;
    case 3: // OLSR message MID
        return body.size() % ADDRESS == 0;
    case 4: // OLSR message HNA
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

/** @return whether ns-3 can read the bytes after the type of an AODV route error (RFC 3561, section
 * 5.3) */
bool
IsRouteErrorReadable(ConstBytes body)
{
    constexpr size_t HEADER = 3;
    constexpr size_t DESTINATION = 8; // bytes of a destination's address and sequence number
    const size_t count = body.size() < HEADER ? 0 : Load8(&body[2]);
    if (body.size() < HEADER + count * DESTINATION)
    {
        return false;
    }
    std::set<uint32_t> addresses; // ns-3 expects a message without duplicate addresses
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
    case 1: // AODV route request
        return packet.size() >= 24;
    case 2: // AODV route reply
        return packet.size() >= 20;
    case 3:
        return IsRouteErrorReadable(packet.subspan(1));
    default: // a route reply acknowledgement, or a type that ns-3 ignores
        return true;
    }
}

/**
 * Returns whether ns-3 can answer a packet of RIP or RIPng. ns-3 answers a request for only some
 * routes through the socket of the interface at which the request arrived. If RIP is set not to
 * send on the interface, the interface has no socket, and ns-3 ends (Rip and RipNg,
 * HandleRequests()). Routers request all routes.
 * @param all the entry that requests all routes
 * @return false if the packet is a request for only some routes
 */
bool
IsAnswerable(ConstBytes packet, const std::array<uint8_t, RIP_ENTRY>& all)
{
    constexpr uint8_t REQUEST = 1;
    const ConstBytes entries = packet.subspan(RIP_HEADER);
    return Load8(packet.data()) != REQUEST || entries.size() < RIP_ENTRY ||
           (entries.size() < 2 * RIP_ENTRY &&
            std::equal(all.begin(), all.end(), entries.begin(), [](uint8_t a, std::byte b) {
                return std::byte{a} == b;
            }));
}

/** @return whether ns-3 can read and answer a packet of RIP (RFC 2453, section 4) */
bool
IsRipReadable(ConstBytes packet)
{
    // The entry that requests all routes is accepted with any address family: the family is zero in
    // RFC 2453, but not in the requests of ns-3.
    std::array<uint8_t, RIP_ENTRY> all{};
    all.back() = RIP_INFINITY;
    if (packet.size() >= RIP_HEADER + 2)
    {
        all[1] = Load8(&packet[RIP_HEADER + 1]);
    }
    return packet.size() >= RIP_HEADER && IsAnswerable(packet, all);
}

/** @return whether ns-3 can read and answer a packet of RIPng (RFC 2080, section 2.1) */
bool
IsRipngReadable(ConstBytes packet)
{
    constexpr size_t PREFIX_LENGTH = 18; // offset of the prefix length in a RIPng route entry
    constexpr uint8_t LONGEST = 128;
    std::array<uint8_t, RIP_ENTRY> all{};
    all.back() = RIP_INFINITY;
    if (packet.size() < RIP_HEADER || !IsAnswerable(packet, all))
    {
        return false;
    }
    for (size_t at = RIP_HEADER; at + RIP_ENTRY <= packet.size(); at += RIP_ENTRY)
    {
        if (Load8(&packet[at + PREFIX_LENGTH]) > LONGEST)
        {
            return false;
        }
    }
    return true;
}

} // namespace

bool
IsReadableDatagram(DatagramPorts ports, ConstBytes payload, const IsOwn& isOwn)
{
    constexpr size_t DSDV_ENTRY = 12;
    switch (ports.destination)
    {
    case OLSR_PORT:
        return ports.source == OLSR_PORT && IsOlsrReadable(payload, isOwn);
    case RIP_PORT:
        return IsRipReadable(payload);
    case RIPNG_PORT:
        return IsRipngReadable(payload);
    case DSDV_PORT:
        return payload.size() % DSDV_ENTRY == 0;
    case AODV_PORT:
        return IsAodvReadable(payload);
    default:
        return true;
    }
}

} // namespace ns3
