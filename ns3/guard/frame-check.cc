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

/** @return whether ns-3 can parse a packet from the transport header on */
bool
IsTransportParsable(uint8_t protocol, ConstBytes segment)
{
    switch (protocol)
    {
    case wire::ip_protocol::kIcmp:
        return segment.size() >= wire::IcmpHeader::kSize;
    case wire::ip_protocol::kIcmpv6: // ICMPv6 has no TransportGuard
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
/// Maximum of all together: ns-3 counts their bytes in 8 bits (Ipv6L3Protocol::LocalDeliver()).
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
    // After reassembly neither extension headers nor ICMPv6 are checked;
    // only echo messages of ICMPv6 are in fragments (RFC 6980).
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

/** @return whether the address is a group of ns-3's nodes: ff02::1, ff02::2, a solicited-node
 * address, or ff02::9 (RIPng) */
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
 * ns-3 answers a packet of an unknown protocol, even to a group's address, for which it has no
 * route (Ipv6L3Protocol::LocalDeliver(), ipv6-static-routing.cc).
 * @return whether ns-3 knows the protocol
 */
bool
IsKnownProtocol(uint8_t protocol)
{
    return protocol == wire::ip_protocol::kUdp || protocol == wire::ip_protocol::kTcp ||
           protocol == wire::ip_protocol::kIcmpv6;
}

/**
 * ns-3 takes a missing link-layer address of the sender from its cache, even while it is being
 * resolved, and ends (Icmpv6L4Protocol::HandleNS()).
 * @param isFromNobody the source is unspecified: duplicate address detection
 * @return false if it is a neighbour solicitation without the address; from ::, with the address
 */
bool
IsSolicitationComplete(uint8_t protocol, ConstBytes message, bool isFromNobody)
{
    constexpr uint8_t SOLICITATION = 135;
    constexpr std::size_t HEADER = 24;
    constexpr std::size_t UNIT = 8;
    constexpr uint8_t SOURCE_ADDRESS = 1; // option type
    if (protocol != wire::ip_protocol::kIcmpv6 || message.size() < HEADER ||
        wire::Load8(message.data()) != SOLICITATION)
    {
        return true;
    }
    // ns-3 reads the first option only.
    const ConstBytes options = message.subspan(HEADER);
    const bool has = options.size() >= UNIT && wire::Load8(options.data()) == SOURCE_ADDRESS;
    return has != isFromNobody;
}

/** The properties of an IPv6 packet's addresses that the checks of its payload need. */
struct Addresses
{
    bool isForEveryNode; //!< whether to a group of ns-3's nodes
    bool isFromNobody;   //!< whether from ::
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
            // With segments left ns-3 would follow routes of type 0, which is forbidden (RFC 5095);
            // it has no other types, and ends when it finds one (Ipv6L3Protocol::LocalDeliver()).
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
    // No node sends from a group (RFC 4291, section 2.7), and ns-3 ends when it answers to one.
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
