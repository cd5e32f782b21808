/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/payload/held-payloads.h"

#include "ns3/base/bytes-header.h"
#include "ns3/base/ns3-access.h"

#include "base/wire/checksum.h"
#include "base/wire/ip.h"
#include "base/wire/transport.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(HeldPayloadTag);

namespace
{

namespace wire = viaduct::wire;
using wire::ConstBytes;

/// The minimum length of a payload that is held, bytes.
constexpr uint32_t SHORTEST = 64;
/// A payload's name consists of the number of its pool, its place in the pool, and a generation.
constexpr uint32_t POOL_SHIFT = 48;
constexpr uint32_t PLACE_SHIFT = 24;
constexpr uint64_t PLACE_MASK = (1 << 24) - 1;

/** Returns the list of payload pools. The index of a pool is its number; null stands for a
 * destroyed pool. */
std::vector<HeldPayloads*>&
Pools()
{
    static std::vector<HeldPayloads*> pools;
    return pools;
}

/** The properties of a packet that may be passed without its payload. */
struct Shape
{
    /** Offset of the transport header; in a later fragment, the offset of the content. */
    uint32_t transport = 0;
    uint32_t headers = 0;  //!< number of first bytes that always remain in the packet
    uint32_t offset = 0;   //!< offset of the fragment in the original packet's payload, bytes
    uint16_t id = 0;       //!< identification (IPv4)
    uint8_t protocol = 0;  //!< transport protocol
    bool fragment = false; //!< whether the packet is a fragment
};

/**
 * Sets Shape::headers according to the transport protocol.
 * @return whether the packet may be passed without its payload, because no protocol in the
 * simulation reads bytes after the transport header
 */
bool
FitTransport(ConstBytes ip, Shape& shape)
{
    const ConstBytes segment = ip.subspan(shape.transport);
    switch (shape.protocol)
    {
    case wire::ip_protocol::kUdp:
        shape.headers = shape.transport + wire::UdpHeader::kSize;
        return true;
    case wire::ip_protocol::kTcp: {
        const auto tcp = wire::TcpHeader::Parse(segment);
        shape.headers = shape.transport + (tcp ? tcp->header_length : 0);
        return tcp.has_value();
    }
    case wire::ip_protocol::kIcmp:
    case wire::ip_protocol::kIcmpv6: {
        const uint8_t type = wire::Load8(segment.data());
        const bool version4 = shape.protocol == wire::ip_protocol::kIcmp;
        shape.headers = shape.transport + wire::IcmpHeader::kSize;
        // Only echo requests and replies may be passed without their payload.
        return version4 ? type == 0 || type == 8 : type == 128 || type == 129;
    }
    default:
        return false;
    }
}

/** @return the properties of an IPv4 packet; no value if the packet must be passed with its payload
 */
std::optional<Shape>
FitIpv4(ConstBytes ip)
{
    const auto header = wire::Ipv4Header::Parse(ip);
    if (!header || header->header_length != wire::Ipv4Header::kSize ||
        header->total_length != ip.size())
    {
        return std::nullopt;
    }
    const uint32_t destination = wire::Load32(&ip[16]);
    const bool forNeighbours = destination == 0xffffffff || destination >> 8 == 0xe00000;
    Shape shape{.transport = wire::Ipv4Header::kSize,
                // ICMP errors quote 8 bytes after the IP header.
                .headers = wire::Ipv4Header::kSize + 8,
                .offset = header->fragment_offset * uint32_t{8},
                .id = header->id,
                .protocol = header->protocol,
                .fragment = header->IsFragment()};
    const bool fits = shape.offset != 0 || FitTransport(ip, shape);
    return fits && !forNeighbours ? std::optional(shape) : std::nullopt;
}

/** @return the properties of an IPv6 packet; no value if the packet must be passed with its payload
 */
std::optional<Shape>
FitIpv6(ConstBytes ip)
{
    const auto header = wire::Ipv6Header::Parse(ip);
    if (!header || header->payload_length + wire::Ipv6Header::kSize != ip.size() ||
        header->hop_limit <= 1)
    {
        return std::nullopt;
    }
    const bool multicast = wire::Load8(&ip[24]) == 0xff;
    const bool forNeighbours = multicast && (wire::Load8(&ip[25]) & 0xf) <= 2;
    Shape shape{.transport = wire::Ipv6Header::kSize, .protocol = header->next_header};
    return !forNeighbours && FitTransport(ip, shape) ? std::optional(shape) : std::nullopt;
}

std::optional<Shape>
Fit(ConstBytes ip)
{
    constexpr size_t ENOUGH = wire::Ipv6Header::kSize + SHORTEST;
    if (ip.size() < ENOUGH)
    {
        return std::nullopt;
    }
    switch (wire::Load8(ip.data()) >> 4)
    {
    case 4:
        return FitIpv4(ip);
    case 6:
        return FitIpv6(ip);
    default:
        return std::nullopt;
    }
}

} // namespace

bool HeldPayloads::s_inUse = false;

TypeId
HeldPayloadTag::GetTypeId()
{
    static TypeId tid = TypeId("ns3::HeldPayloadTag")
                            .SetParent<Tag>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<HeldPayloadTag>();
    return tid;
}

TypeId
HeldPayloadTag::GetInstanceTypeId() const
{
    return GetTypeId();
}

uint32_t
HeldPayloadTag::GetSerializedSize() const
{
    return sizeof(m_name);
}

void
HeldPayloadTag::Serialize(TagBuffer i) const
{
    i.WriteU64(m_name);
}

void
HeldPayloadTag::Deserialize(TagBuffer i)
{
    m_name = i.ReadU64();
}

void
HeldPayloadTag::Print(std::ostream& os) const
{
    os << "payload " << std::hex << m_name << std::dec;
}

HeldPayloads::HeldPayloads(uint32_t payloads, uint32_t bytes)
    : m_pool(Pools().size()),
      m_bytes(bytes),
      m_memory(std::make_unique_for_overwrite<std::byte[]>(size_t{payloads} * bytes)),
      m_payloads(payloads)
{
    for (uint32_t i = 0; i < payloads; ++i)
    {
        m_payloads[i].memory = m_memory.get() + size_t{i} * bytes;
        m_free.push_back(payloads - 1 - i);
    }
    Pools().push_back(this);
    s_inUse = true;
}

HeldPayloads::~HeldPayloads()
{
    Pools()[m_pool] = nullptr;
    while (!Pools().empty() && Pools().back() == nullptr)
    {
        Pools().pop_back();
    }
    s_inUse = !Pools().empty();
}

HeldPayload*
HeldPayloads::Find(uint64_t name)
{
    const uint64_t pool = name >> POOL_SHIFT;
    if (pool >= Pools().size() || Pools()[pool] == nullptr)
    {
        return nullptr;
    }
    HeldPayload& payload = Pools()[pool]->m_payloads.at(name >> PLACE_SHIFT & PLACE_MASK);
    const bool same = (payload.generation & PLACE_MASK) == (name & PLACE_MASK);
    return payload.taken && same ? &payload : nullptr;
}

HeldPayload*
HeldPayloads::Take()
{
    if (m_free.empty() && !m_swept)
    {
        Sweep();
        m_swept = true;
    }
    if (m_free.empty())
    {
        return nullptr;
    }
    const uint32_t place = m_free.back();
    m_free.pop_back();
    m_recent.push_back(place);
    HeldPayload& payload = m_payloads[place];
    payload.taken = true;
    payload.generation++;
    if (payload.references.Head() == nullptr)
    {
        // The tag is never removed from this list; Hold() shares the list with packets.
        payload.references.Add(HeldPayloadTag());
    }
    return &payload;
}

Ptr<Packet>
HeldPayloads::Hold(const Received& received, uint32_t headerBytes)
{
    const ConstBytes ip = received.ip;
    const auto shape = Fit(ip);
    const uint32_t kept = shape ? std::max(headerBytes, shape->headers) : 0;
    if (!shape || ip.size() < kept + SHORTEST || ip.size() - kept > m_bytes)
    {
        m_counters.whole++;
        return nullptr;
    }
    HeldPayload* const payload = Take();
    if (!payload)
    {
        m_counters.poolFull++;
        return nullptr;
    }
    m_counters.held++;
    payload->bytes = ip.subspan(kept);
    payload->room = received.lasting ? received.before + kept : 0;
    payload->borrowed = false;
    payload->position = shape->offset + kept - shape->transport;
    payload->segment = shape->fragment ? 0 : ip.size() - shape->transport;
    payload->id = shape->id;
    payload->protocol = shape->protocol;
    payload->sum = SumWithoutPayload(ip.first(kept), payload->segment);
    if (!received.lasting)
    {
        std::memcpy(payload->memory, payload->bytes.data(), payload->bytes.size());
        payload->bytes = {payload->memory, payload->bytes.size()};
    }

    Ptr<Packet> packet = Create<Packet>(static_cast<uint32_t>(payload->bytes.size()));
    ns3access::SharePacketTags(*packet, payload->references);
    packet->AddHeader(BytesHeader(ip.first(kept)));
    HeldPayloadTag tag;
    tag.m_name = uint64_t{m_pool} << POOL_SHIFT | uint64_t{m_recent.back()} << PLACE_SHIFT |
                 (payload->generation & PLACE_MASK);
    packet->AddByteTag(tag, kept, ip.size());
    return packet;
}

bool
HeldPayloads::IsNeeded(const HeldPayload& payload)
{
    return payload.uses > 0 || payload.references.Head()->count > 1;
}

void
HeldPayloads::Release(uint32_t index)
{
    m_payloads[index].taken = false;
    m_free.push_back(index);
}

void
HeldPayloads::Settle()
{
    m_swept = false;
    for (const uint32_t index : m_recent)
    {
        HeldPayload& payload = m_payloads[index];
        if (!IsNeeded(payload))
        {
            Release(index);
            continue;
        }
        payload.room = 0;
        if (payload.bytes.data() != payload.memory)
        {
            std::memcpy(payload.memory, payload.bytes.data(), payload.bytes.size());
            payload.bytes = {payload.memory, payload.bytes.size()};
        }
        m_counters.copied++;
        m_waiting.push_back(index);
    }
    m_recent.clear();
}

void
HeldPayloads::Sweep()
{
    std::erase_if(m_waiting, [this](uint32_t index) {
        const bool over = !IsNeeded(m_payloads[index]);
        if (over)
        {
            Release(index);
        }
        return over;
    });
}

void
HeldPayloads::Retire(std::unique_ptr<HeldPayloads> payloads)
{
    static std::vector<std::unique_ptr<HeldPayloads>> retired;
    if (payloads)
    {
        payloads->Settle();
        retired.push_back(std::move(payloads));
    }
    std::erase_if(retired, [](const auto& old) { return old->CountWaiting() == 0; });
}

uint32_t
HeldPayloads::CountWaiting() const
{
    return std::count_if(m_payloads.begin(), m_payloads.end(), [](const HeldPayload& payload) {
        return payload.taken && IsNeeded(payload);
    });
}

} // namespace ns3
