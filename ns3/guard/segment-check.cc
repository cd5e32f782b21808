/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/guard/segment-check.h"

#include "base/wire/ip.h"
#include "base/wire/transport.h"

#include <bitset>

namespace ns3
{

namespace
{

using viaduct::wire::ConstBytes;
namespace wire = viaduct::wire;

bool
IsReadableUdp(ConstBytes segment)
{
    const auto udp = wire::UdpHeader::Parse(segment);
    return udp && udp->length >= wire::UdpHeader::kSize && udp->length <= segment.size();
}

/** @return whether ns-3 can read a TCP option of a given kind and length */
bool
IsTcpOptionLength(uint8_t kind, std::size_t length)
{
    switch (kind)
    {
    case 2: // TCP option maximum segment size
        return length == 4;
    case 3: // TCP option window scale
        return length == 3;
    case 4: // TCP option SACK permitted
        return length == 2;
    case 5: // TCP option SACK
        return length >= 2 && length % 8 == 2;
    case 8: // TCP option timestamps
        return length == 10;
    default:
        return length >= 2;
    }
}

bool
IsReadableTcp(ConstBytes segment)
{
    constexpr uint8_t END = 0;
    constexpr uint8_t NOTHING = 1;
    const auto tcp = wire::TcpHeader::Parse(segment);
    if (!tcp)
    {
        return false;
    }
    ConstBytes options = segment.first(tcp->header_length).subspan(wire::TcpHeader::kSize);
    while (!options.empty())
    {
        const uint8_t kind = wire::Load8(options.data());
        if (kind == END)
        {
            return true;
        }
        if (kind == NOTHING)
        {
            options = options.subspan(1);
            continue;
        }
        const std::size_t length = options.size() < 2 ? 0 : wire::Load8(options.data() + 1);
        if (length > options.size() || !IsTcpOptionLength(kind, length))
        {
            return false;
        }
        options = options.subspan(length);
    }
    return true;
}

bool
IsReadableIcmp(ConstBytes message)
{
    constexpr uint8_t UNREACHABLE = 3;
    constexpr uint8_t TIME_EXCEEDED = 11;
    constexpr std::size_t QUOTED = 8; // minimum bytes of the quoted packet after its IP header
    const auto icmp = wire::IcmpHeader::Parse(message);
    if (!icmp || (icmp->type != UNREACHABLE && icmp->type != TIME_EXCEEDED))
    {
        return icmp.has_value();
    }
    const ConstBytes packet = message.subspan(wire::IcmpHeader::kSize);
    const auto ip = wire::Ipv4Header::Parse(packet);
    return ip && packet.size() >= ip->header_length + QUOTED;
}

/** Returns whether ns-3 can read the options of a neighbour discovery message whose link-layer
 * addresses are Ethernet addresses. */
bool
AreReadableOptions(ConstBytes options)
{
    constexpr std::size_t UNIT = 8;
    std::bitset<256> seen;
    while (!options.empty())
    {
        const uint8_t type = wire::Load8(options.data());
        const std::size_t units = options.size() < UNIT ? 0 : wire::Load8(options.data() + 1);
        // Options that may occur once: source (1) and target (2) link-layer address, MTU (5).
        const bool isSingle = type == 1 || type == 2 || type == 5;
        // Type 3, prefix information, has 4 units of 8 bytes.
        if (units == 0 || units * UNIT > options.size() ||
            (isSingle && (units != 1 || seen[type])) || (type == 3 && units != 4))
        {
            return false;
        }
        seen[type] = true;
        options = options.subspan(units * UNIT);
    }
    return true;
}

/** Returns whether ns-3 can read the options of a redirect message: ns-3 reads the bytes after the
 * option target link-layer address as the redirected packet. */
bool
AreReadableOfRedirect(ConstBytes options)
{
    constexpr std::size_t ADDRESS = 8;
    if (!AreReadableOptions(options) || options.empty())
    {
        return false;
    }
    return wire::Load8(options.data()) != 2 || options.size() > ADDRESS;
}

bool
IsReadableIcmpv6(ConstBytes message)
{
    if (message.size() < wire::IcmpHeader::kSize)
    {
        return false;
    }
    const auto after = [message](std::size_t size) {
        return message.size() < size ? ConstBytes() : message.subspan(size);
    };
    switch (wire::Load8(message.data()))
    {
    case 1: // destination unreachable
    case 2: // packet too big
    case 3: // time exceeded
    case 4: // parameter problem
        return message.size() >= wire::IcmpHeader::kSize + wire::Ipv6Header::kSize;
    case 133: // router solicitation
        return AreReadableOptions(after(8));
    case 134: // router advertisement
        return message.size() >= 16 && AreReadableOptions(after(16));
    case 135: // neighbour solicitation
    case 136: // neighbour advertisement
        return message.size() >= 24 && AreReadableOptions(after(24));
    case 137: // redirect
        return AreReadableOfRedirect(after(40));
    default:
        return true;
    }
}

} // namespace

bool
IsReadableSegment(uint8_t protocol, ConstBytes segment)
{
    switch (protocol)
    {
    case wire::ip_protocol::kUdp:
        return IsReadableUdp(segment);
    case wire::ip_protocol::kTcp:
        return IsReadableTcp(segment);
    case wire::ip_protocol::kIcmp:
        return IsReadableIcmp(segment);
    case wire::ip_protocol::kIcmpv6:
        return IsReadableIcmpv6(segment);
    default:
        return true;
    }
}

} // namespace ns3
