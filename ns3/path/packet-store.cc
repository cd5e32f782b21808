/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/path/packet-store.h"

#include "ns3/assert.h"
#include "ns3/payload/held-payloads.h"

namespace ns3
{

using viaduct::path::FrameHandle;

namespace
{

/** @return the bytes of a packet */
std::vector<std::byte>
BytesOf(Ptr<const Packet> packet)
{
    std::vector<std::byte> bytes(packet->GetSize());
    JoinPacket(*packet, bytes, FirstHeader::ETHERNET);
    return bytes;
}

/** @return a packet with the bytes @p bytes and the uid and tags of @p original, which has the same
 * size */
Ptr<Packet>
WithBytes(Ptr<const Packet> original, const std::vector<std::byte>& bytes)
{
    Ptr<Packet> packet = original->Copy(); // keeps the uid, which cannot be set otherwise
    packet->RemoveAllByteTags();
    packet->RemoveAtEnd(packet->GetSize());
    packet->AddAtEnd(Create<Packet>(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
    CopyByteTags(*original, *packet);
    return packet;
}

} // namespace

FrameHandle
PacketStore::Add(Ptr<Packet> packet)
{
    if (m_free.empty())
    {
        m_free.push_back(static_cast<FrameHandle>(m_slots.size()));
        m_slots.emplace_back();
    }
    const FrameHandle frame = m_free.back();
    m_free.pop_back();
    m_slots[frame].packet = std::move(packet);
    return frame;
}

Ptr<const Packet>
PacketStore::Peek(FrameHandle frame) const
{
    return m_slots.at(frame).packet;
}

Ptr<Packet>
PacketStore::Take(FrameHandle frame)
{
    Slot& slot = m_slots.at(frame);
    Ptr<Packet> packet = std::move(slot.packet);
    NS_ASSERT_MSG(packet, "a frame was taken from the store twice");
    if (!slot.bytes.empty() && slot.bytes != BytesOf(packet))
    {
        packet = WithBytes(packet, slot.bytes);
    }
    slot.packet = packet;
    Free(frame);
    return packet;
}

std::span<std::byte>
PacketStore::Bytes(FrameHandle frame)
{
    Slot& slot = m_slots.at(frame);
    if (slot.bytes.empty())
    {
        slot.bytes = BytesOf(slot.packet);
    }
    return slot.bytes;
}

std::optional<FrameHandle>
PacketStore::Clone(FrameHandle frame)
{
    const FrameHandle clone = Add(m_slots.at(frame).packet->Copy());
    m_slots[clone].bytes = m_slots[frame].bytes;
    return clone;
}

void
PacketStore::CompleteChecksum(FrameHandle)
{
    // Does nothing, because ns-3 leaves no checksum to hardware: a checksum is complete, or absent
    // because ChecksumEnabled is false.
}

void
PacketStore::Free(FrameHandle frame)
{
    Slot& slot = m_slots.at(frame);
    NS_ASSERT_MSG(slot.packet, "a frame was freed twice");
    slot.packet = nullptr;
    slot.bytes.clear();
    m_free.push_back(frame);
}

} // namespace ns3
