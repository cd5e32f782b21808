/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/guard/frame-check.h"

#include "ns3/guard/segment-check.h"

#include "base/wire/ip.h"
#include "base/wire/transport.h"

#include <algorithm>
#include <array>

namespace ns3
{

namespace
{

using viaduct::wire::ConstBytes;
namespace wire = viaduct::wire;

/** @return whether ns-3 can parse a segment: a transport header and the bytes after it */
bool
IsTransportParsable(uint8_t protocol, ConstBytes segment)
{
    switch (protocol)
    {
    case wire::ip_protocol::kIcmp:
        return segment.size() >= wire::IcmpHeader::kSize;
    case wire::ip_protocol::kIcmpv6: // checked here, as ICMPv6 has no TransportGuard
        return IsReadableSegment(protocol, segment);
    case wire::ip_protocol::kTcp:
        return wire::TcpHeader::Parse(segment).has_value();
    case wire::ip_protocol::kUdp: {
        const auto udp = wire::UdpHeader::Parse(segment);
        return udp && udp->length >= wire::UdpHeader::kSize && udp->length <= segment.size();
    }
    default:
        return true;
    }
}

/** @return whether ns-3 can parse an IPv4 packet */
bool
IsIpv4Parsable(ConstBytes packet)
{
    const auto ip = wire::Ipv4Header::Parse(packet);
    if (!ip || ip->total_length < ip->header_length || ip->total_length > packet.size())
    {
        return false;
    }
    const ConstBytes segment = packet.first(ip->total_length).subspan(ip->header_length);
    return ip->IsFragment() || IsTransportParsable(ip->protocol, segment);
}

/** Extension headers of IPv6 (RFC 8200). */
namespace extension
{
constexpr uint8_t HOP_BY_HOP = 0;
constexpr uint8_t ROUTING = 43;
constexpr uint8_t FRAGMENT = 44;
constexpr uint8_t DESTINATION = 60;
constexpr std::size_t UNIT = 8;
/// Maximum length of a packet's extension headers together, in bytes: ns-3 counts the bytes in 8
/// bits (Ipv6L3Protocol::LocalDeliver()).
constexpr std::size_t MOST = 248;
} // namespace extension

bool
IsExtensionHeader(uint8_t header)
{
    return header == extension::HOP_BY_HOP || header == extension::ROUTING ||
           header == extension::FRAGMENT || header == extension::DESTINATION;
}

/** @return whether ns-3 can read the options of a hop-by-hop or destination options header */
bool
AreOptionsParsable(ConstBytes options)
{
    constexpr uint8_t PAD_1 = 0;
    constexpr uint8_t ROUTER_ALERT = 5;
    constexpr uint8_t JUMBO = 0xc2;
    while (!options.empty())
    {
        const uint8_t type = wire::Load8(options.data());
        if (type == PAD_1)
        {
            options = options.subspan(1);
            continue;
        }
        const std::size_t length = options.size() < 2 ? 0 : 2 + wire::Load8(options.data() + 1);
        if (length == 0 || length > options.size() || (type == ROUTER_ALERT && length != 4) ||
            (type == JUMBO && length != 6))
        {
            return false;
        }
        options = options.subspan(length);
    }
    return true;
}

/**
 * @param rest a fragment header and the bytes after it
 * @return whether ns-3 can parse the fragment, and the reassembled packet
 */
bool
IsFragmentParsable(ConstBytes rest)
{
    constexpr uint8_t ECHO_REQUEST = 128;
    constexpr uint8_t ECHO_REPLY = 129;
    constexpr std::size_t MOST = 65535;
    const uint8_t next = wire::Load8(rest.data());
    const uint16_t place = wire::Load16(rest.data() + 2);
    const std::size_t offset = place & ~7U;
    const bool isLast = (place & 1) == 0;
    const ConstBytes part = rest.subspan(extension::UNIT);
    // After reassembly neither extension headers nor ICMPv6 messages are checked. So a fragment
    // must not contain further extension headers, and the only ICMPv6 messages that may be
    // fragmented are echo messages (RFC 6980).
    if (IsExtensionHeader(next) || part.empty() || offset + part.size() > MOST ||
        (!isLast && part.size() % extension::UNIT != 0))
    {
        return false;
    }
    if (offset != 0 || next != wire::ip_protocol::kIcmpv6)
    {
        return offset != 0 || !isLast || IsTransportParsable(next, part);
    }
    const uint8_t type = wire::Load8(part.data());
    return part.size() >= wire::IcmpHeader::kSize && (type == ECHO_REQUEST || type == ECHO_REPLY);
}

/** @return whether the address is a multicast group that ns-3's nodes receive: ff02::1, ff02::2, a
 * solicited-node address, or ff02::9 (RIPng) */
bool
IsForEveryNode(const wire::IpAddress& address)
{
    static const auto solicited = wire::IpPrefix::Parse("ff02::1:ff00:0/104");
    static const std::array groups{wire::IpAddress::Parse("ff02::1"),
                                   wire::IpAddress::Parse("ff02::2"),
                                   wire::IpAddress::Parse("ff02::9")};
    return solicited.Contains(address) ||
           std::find(groups.begin(), groups.end(), address) != groups.end();
}

/**
 * Returns whether ns-3 knows an IP protocol. ns-3 answers a packet of an unknown protocol even if
 * the packet's destination is a group address, for which ns-3 has no route
 * (Ipv6L3Protocol::LocalDeliver(), ipv6-static-routing.cc).
 * @return whether ns-3 knows the protocol
 */
bool
IsKnownProtocol(uint8_t protocol)
{
    return protocol == wire::ip_protocol::kUdp || protocol == wire::ip_protocol::kTcp ||
           protocol == wire::ip_protocol::kIcmpv6;
}

/**
 * Returns whether a neighbour solicitation has the sender's link-layer address if ns-3 needs the
 * address. If the address is missing, ns-3 reads it from its neighbour cache, and ends if the cache
 * is still resolving the address (Icmpv6L4Protocol::HandleNS()).
 * @param isFromNobody whether the packet's source is ::, as in duplicate address detection
 * @return false for a neighbour solicitation that has no link-layer address and a source other than
 * ::, or that has a link-layer address and the source ::; true for all other messages
 */
bool
IsSolicitationComplete(uint8_t protocol, ConstBytes message, bool isFromNobody)
{
    constexpr uint8_t SOLICITATION = 135;
    constexpr std::size_t HEADER = 24;
    constexpr std::size_t UNIT = 8;
    constexpr uint8_t SOURCE_ADDRESS = 1; // type of the option source link-layer address
    if (protocol != wire::ip_protocol::kIcmpv6 || message.size() < HEADER ||
        wire::Load8(message.data()) != SOLICITATION)
    {
        return true;
    }
    // ns-3 reads only the first option of a neighbour solicitation.
    const ConstBytes options = message.subspan(HEADER);
    const bool has = options.size() >= UNIT && wire::Load8(options.data()) == SOURCE_ADDRESS;
    return has != isFromNobody;
}

/** The properties of an IPv6 packet's addresses that the checks of its payload need. */
struct Addresses
{
    bool isForEveryNode; //!< whether IsForEveryNode() holds for the destination
    bool isFromNobody;   //!< whether the source is ::
};

/** @return whether ns-3 can parse the headers after an IPv6 header */
bool
IsPayloadParsable(uint8_t next, ConstBytes rest, Addresses addresses)
{
    std::size_t extensions = 0;
    for (bool isFirst = true; IsExtensionHeader(next); isFirst = false)
    {
        if (rest.size() < extension::UNIT || (next == extension::HOP_BY_HOP && !isFirst))
        {
            return false;
        }
        if (next == extension::FRAGMENT)
        {
            return IsFragmentParsable(rest) &&
                   (!addresses.isForEveryNode || IsKnownProtocol(wire::Load8(rest.data())));
        }
        const std::size_t length = extension::UNIT * (1 + wire::Load8(rest.data() + 1));
        extensions += length;
        if (length > rest.size() || extensions > extension::MOST)
        {
            return false;
        }
        if (next == extension::ROUTING)
        {
            // ns-3 would follow a routing header of type 0 with segments left, which RFC 5095
            // forbids. ns-3 implements no other type of routing header, and ends when it receives
            // another type (Ipv6L3Protocol::LocalDeliver()).
            if (wire::Load8(rest.data() + 2) != 0 || wire::Load8(rest.data() + 3) != 0)
            {
                return false;
            }
        }
        else if (!AreOptionsParsable(rest.first(length).subspan(2)))
        {
            return false;
        }
        next = wire::Load8(rest.data());
        rest = rest.subspan(length);
    }
    return IsTransportParsable(next, rest) &&
           (!addresses.isForEveryNode || IsKnownProtocol(next)) &&
           (!addresses.isFromNobody || next == wire::ip_protocol::kIcmpv6) &&
           IsSolicitationComplete(next, rest, addresses.isFromNobody);
}

/** @return whether ns-3 can parse an IPv6 packet */
bool
IsIpv6Parsable(ConstBytes packet)
{
    const auto ip = wire::Ipv6Header::Parse(packet);
    // A group address is never a packet's source (RFC 4291, section 2.7), and ns-3 ends when it
    // answers a packet whose source is a group address.
    return ip && ip->payload_length <= packet.size() - wire::Ipv6Header::kSize &&
           !ip->source.IsMulticast() &&
           IsPayloadParsable(ip->next_header,
                             packet.subspan(wire::Ipv6Header::kSize, ip->payload_length),
                             {.isForEveryNode = IsForEveryNode(ip->destination),
                              .isFromNobody = ip->source.IsUnspecified()});
}

} // namespace

bool
IsParsable(uint16_t protocol, ConstBytes packet)
{
    switch (protocol)
    {
    case wire::ether_type::kIpv4:
        return IsIpv4Parsable(packet);
    case wire::ether_type::kIpv6:
        return IsIpv6Parsable(packet);
    case wire::ether_type::kArp:
        return wire::ArpPacket::Parse(packet).has_value();
    default:
        return true;
    }
}

} // namespace ns3
