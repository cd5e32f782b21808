/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

// The functions of held-payloads.h that join packets with their held payloads.

#include "ns3/payload/held-payloads.h"

#include "ns3/assert.h"

#include "base/wire/checksum.h"
#include "base/wire/ethernet.h"
#include "base/wire/ip.h"
#include "base/wire/layers.h"
#include "base/wire/transport.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

namespace ns3
{

namespace
{

namespace wire = viaduct::wire;
using wire::Bytes;
using wire::ConstBytes;

uint64_t g_lost = 0; //!< number of packets that could not be joined

/** A part of a packet whose bytes are held in a payload outside the simulation. */
struct Part
{
    uint64_t name;  //!< the payload's name (HeldPayloadTag)
    uint32_t start; //!< offset of the part's first byte in the packet
    uint32_t end;   //!< offset after the part's last byte
};

/** The values read from the headers of an IP packet. */
struct Start
{
    uint32_t transport;    //!< offset of the transport header
    uint32_t segment;      //!< number of bytes from the transport header to the packet's end
    uint32_t offset;       //!< offset of the fragment in the original packet's payload, bytes
    uint16_t id;           //!< identification (IPv4)
    uint8_t protocol;      //!< transport protocol
    bool fragment;         //!< whether the packet is a fragment
    ConstBytes addresses;  //!< source and destination address
    size_t checksumOffset; //!< offset of the checksum in the transport header; 0: no checksum
};

size_t
ChecksumOffset(uint8_t protocol)
{
    switch (protocol)
    {
    case wire::ip_protocol::kUdp:
        return wire::UdpHeader::kChecksumOffset;
    case wire::ip_protocol::kTcp:
        return wire::TcpHeader::kChecksumOffset;
    case wire::ip_protocol::kIcmp:
    case wire::ip_protocol::kIcmpv6:
        return wire::IcmpHeader::kChecksumOffset;
    default:
        return 0;
    }
}

/**
 * Reads the headers of an IP packet; no other bytes are read.
 * @return the values in the headers; no value if the bytes are not an IP packet
 */
std::optional<Start>
ReadStart(ConstBytes ip)
{
    const uint8_t version = ip.empty() ? 0 : wire::Load8(ip.data()) >> 4;
    if (version == 4 && ip.size() >= wire::Ipv4Header::kSize)
    {
        const uint32_t length = (wire::Load8(ip.data()) & 0xf) * 4;
        const uint32_t total = wire::Load16(&ip[2]);
        const uint16_t fragment = wire::Load16(&ip[6]);
        const uint8_t protocol = wire::Load8(&ip[9]);
        if (length < wire::Ipv4Header::kSize || total < length || ip.size() < length)
        {
            return std::nullopt;
        }
        return Start{length,
                     total - length,
                     (fragment & uint32_t{0x1fff}) * 8,
                     wire::Load16(&ip[4]),
                     protocol,
                     (fragment & 0x3fff) != 0,
                     ip.subspan(12, 8),
                     ChecksumOffset(protocol)};
    }
    if (version == 6 && ip.size() >= wire::Ipv6Header::kSize)
    {
        const uint8_t protocol = wire::Load8(&ip[6]);
        return Start{wire::Ipv6Header::kSize,
                     wire::Load16(&ip[4]),
                     0,
                     0,
                     protocol,
                     protocol == wire::ip_protocol::kFragment,
                     ip.subspan(8, 32),
                     ChecksumOffset(protocol)};
    }
    return std::nullopt;
}

/** @return the result of SumWithoutPayload() for a packet whose headers have been read */
uint16_t
SumOf(ConstBytes ip, const Start& start, uint32_t segment)
{
    const bool hasField = start.checksumOffset > 0 && start.offset == 0 &&
                          ip.size() >= start.transport + start.checksumOffset + 2;
    if (!hasField || segment == 0)
    {
        return 0;
    }
    const bool pseudo = start.protocol != wire::ip_protocol::kIcmp;
    uint32_t sum = wire::Sum(ip.subspan(start.transport));
    if (pseudo)
    {
        sum =
            wire::Sum(start.addresses, sum) + start.protocol + (segment >> 16) + (segment & 0xffff);
    }
    return static_cast<uint16_t>(~wire::FinishChecksum(sum));
}

/** @return the number of bytes of transport header and payload that the checksum covers. For a
 * fragment the result is @p ofWhole, the number of bytes of the unfragmented packet */
uint32_t
CoveredSegment(const Start& start, uint32_t ofWhole)
{
    return start.fragment ? ofWhole : start.segment;
}

/** @return the parts of a packet whose bytes are held payloads, in the order of their offsets */
std::vector<Part>
FindParts(const Packet& packet)
{
    std::vector<Part> parts;
    for (auto i = packet.GetByteTagIterator(); i.HasNext();)
    {
        const auto item = i.Next();
        if (item.GetTypeId() != HeldPayloadTag::GetTypeId())
        {
            continue;
        }
        HeldPayloadTag tag;
        item.GetTag(tag);
        if (!parts.empty() && parts.back().name == tag.m_name &&
            parts.back().end == item.GetStart())
        {
            parts.back().end = item.GetEnd();
        }
        else
        {
            parts.push_back({tag.m_name, item.GetStart(), item.GetEnd()});
        }
    }
    return parts;
}

/**
 * @param part a part of a packet, whose offsets count from the IP header
 * @return the part's offset in the payload; nothing if the offset is unknown
 */
std::optional<uint32_t>
OffsetOf(const Part& part, const HeldPayload& payload, const std::optional<Start>& start)
{
    const uint32_t length = part.end - part.start;
    if (length == payload.bytes.size())
    {
        return 0;
    }
    // The header of a fragment that ns-3 has made (RFC 791) contains the fragment's offset.
    if (!start || !start->fragment || start->id != payload.id ||
        start->protocol != payload.protocol || part.start < start->transport)
    {
        return std::nullopt;
    }
    const uint32_t position = start->offset + part.start - start->transport;
    const uint32_t offset = position - payload.position;
    const bool inside = position >= payload.position && offset + length <= payload.bytes.size();
    return inside ? std::optional(offset) : std::nullopt;
}

bool
Join(const Packet& packet, Bytes bytes, FirstHeader first)
{
    packet.CopyData(reinterpret_cast<uint8_t*>(bytes.data()), bytes.size());
    std::vector<Part> parts = FindParts(packet);
    if (parts.empty())
    {
        return true;
    }
    size_t network = 0;
    bool isIp = first == FirstHeader::IP;
    if (const auto link = wire::FindLink(bytes); first == FirstHeader::ETHERNET && link)
    {
        network = link->size;
        isIp = link->ether_type == wire::ether_type::kIpv4 ||
               link->ether_type == wire::ether_type::kIpv6;
    }
    const Bytes ip = bytes.subspan(network);
    const auto start = isIp ? ReadStart(ip) : std::nullopt;
    for (Part& part : parts)
    {
        const HeldPayload* const payload = HeldPayloads::Find(part.name);
        if (!payload || part.start < network)
        {
            return false;
        }
        part.start -= network;
        part.end -= network;
        const auto offset = OffsetOf(part, *payload, start);
        if (!offset)
        {
            return false;
        }
        if (start && parts.size() == 1 && *offset == 0)
        {
            CompleteChecksum(ip.first(part.start), *payload);
        }
        std::memcpy(&ip[part.start], &payload->bytes[*offset], part.end - part.start);
    }
    return true;
}

} // namespace

bool
HasHeldPayload(const Packet& packet)
{
    for (auto i = packet.GetByteTagIterator(); i.HasNext();)
    {
        if (i.Next().GetTypeId() == HeldPayloadTag::GetTypeId())
        {
            return true;
        }
    }
    return false;
}

HeldPayload*
FindWholePayload(const Packet& packet)
{
    auto i = packet.GetByteTagIterator();
    if (!i.HasNext())
    {
        return nullptr;
    }
    const auto item = i.Next();
    if (i.HasNext() || item.GetTypeId() != HeldPayloadTag::GetTypeId() ||
        item.GetEnd() != packet.GetSize())
    {
        return nullptr;
    }
    HeldPayloadTag tag;
    item.GetTag(tag);
    HeldPayload* const payload = HeldPayloads::Find(tag.m_name);
    const bool whole = payload && item.GetEnd() - item.GetStart() == payload->bytes.size();
    return whole ? payload : nullptr;
}

uint16_t
SumWithoutPayload(ConstBytes ip, uint32_t segment)
{
    const auto start = ReadStart(ip);
    return start ? SumOf(ip, *start, CoveredSegment(*start, segment)) : 0;
}

void
CompleteChecksum(Bytes ip, const HeldPayload& payload)
{
    const auto start = ReadStart(ip);
    if (!start)
    {
        return;
    }
    const uint16_t sum = SumOf(ip, *start, CoveredSegment(*start, payload.segment));
    if (sum != 0xffff || sum == payload.sum)
    {
        return;
    }
    std::byte* const field = &ip[start->transport + start->checksumOffset];
    const uint16_t found = wire::Load16(field);
    const bool udp = start->protocol == wire::ip_protocol::kUdp;
    if (udp && found == 0)
    {
        return; // a UDP checksum of 0: no checksum (RFC 768)
    }
    uint32_t added = wire::Sum(payload.bytes);
    if ((ip.size() - start->transport) % 2 != 0)
    {
        added = (added >> 8 | added << 8) & 0xffff;
    }
    const uint16_t completed =
        wire::FinishChecksum(uint32_t{static_cast<uint16_t>(~found)} + added);
    wire::Store16(field, udp && completed == 0 ? 0xffff : completed);
}

bool
JoinPacket(const Packet& packet, Bytes bytes, FirstHeader first)
{
    const bool joined = Join(packet, bytes, first);
    g_lost += joined ? 0 : 1;
    return joined;
}

void
RestorePayload(Packet& packet, FirstHeader first)
{
    const uint32_t size = packet.GetSize();
    std::vector<std::byte> bytes(size);
    JoinPacket(packet, bytes, first);
    const Ptr<const Packet> before = packet.Copy();
    packet.RemoveAllByteTags();
    packet.RemoveAtEnd(size);
    packet.AddAtEnd(Create<Packet>(reinterpret_cast<const uint8_t*>(bytes.data()), size));
    CopyByteTags(*before, packet);
    HeldPayloadTag tag;
    packet.RemovePacketTag(tag);
}

void
CopyByteTags(const Packet& from, Packet& to)
{
    for (auto i = from.GetByteTagIterator(); i.HasNext();)
    {
        const auto item = i.Next();
        if (item.GetTypeId() == HeldPayloadTag::GetTypeId())
        {
            continue;
        }
        const std::unique_ptr<ObjectBase> made(item.GetTypeId().GetConstructor()());
        auto tag = dynamic_cast<Tag*>(made.get());
        NS_ASSERT_MSG(tag, "the type of a byte tag is not derived from ns3::Tag");
        item.GetTag(*tag);
        to.AddByteTag(*tag, item.GetStart(), item.GetEnd());
    }
}

uint64_t
CountLostPayloads()
{
    return g_lost;
}

} // namespace ns3
