/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "frame-check.h"

#include "wire/ip.h"
#include "wire/transport.h"

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
    case wire::ip_protocol::kIcmpv6:
        return segment.size() >= wire::IcmpHeader::kSize;
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

/** @return whether ns-3 can parse an IPv6 packet */
bool
IsIpv6Parsable(ConstBytes packet)
{
    const auto ip = wire::Ipv6Header::Parse(packet);
    return ip && ip->payload_length <= packet.size() - wire::Ipv6Header::kSize &&
           IsTransportParsable(ip->next_header,
                               packet.subspan(wire::Ipv6Header::kSize, ip->payload_length));
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
