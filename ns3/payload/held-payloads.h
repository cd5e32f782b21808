/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_HELD_PAYLOADS_H
#define VIADUCT_HELD_PAYLOADS_H

#include "ns3/packet-tag-list.h"
#include "ns3/packet.h"
#include "ns3/ptr.h"
#include "ns3/tag.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief A byte tag for bytes of a packet that are zeros in the simulation. The tag identifies the
 * payload that has the values of these bytes.
 */
class HeldPayloadTag : public Tag
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();
    TypeId GetInstanceTypeId() const override;
    uint32_t GetSerializedSize() const override;
    void Serialize(TagBuffer i) const override;
    void Deserialize(TagBuffer i) override;
    void Print(std::ostream& os) const override;

    uint64_t m_name = 0; //!< the payload's name, the argument of HeldPayloads::Find()
};

/**
 * @ingroup viaduct
 * @brief The payload of a packet, which is held outside the simulation until the packet leaves the
 * simulation.
 */
struct HeldPayload
{
    std::span<const std::byte> bytes; //!< the payload's bytes
    uint32_t room = 0; //!< number of writable bytes before the payload in the received frame
    /** Whether the headers of a frame to send have been written before the payload. */
    bool borrowed = false;

    uint32_t position = 0; //!< offset of `bytes` in the payload of the original IP packet
    uint32_t segment = 0;  //!< length of the packet's transport header and payload; 0: a fragment
    uint16_t sum = 0; //!< sum of the bytes before the payload that the transport checksum covers
    uint16_t id = 0;  //!< the packet's identification (IPv4)
    uint8_t protocol = 0; //!< the packet's transport protocol

    /** Number that distinguishes the payload from earlier payloads at the same place. */
    uint32_t generation = 0;
    uint32_t uses = 0;        //!< number of frames to send that need the payload
    bool taken = false;       //!< whether this place of the pool has a payload
    PacketTagList references; //!< packet tag list shared by all packets that need the payload
    /** Memory for a copy of the payload, if the payload is held longer than its received frame. */
    std::byte* memory = nullptr;
};

/**
 * @ingroup viaduct
 * @brief A pool with the payloads of packets of which only the first bytes are in the simulation
 * (header-only passing).
 *
 * A packet made by Hold() has the first bytes of a received packet, and an area of zeros (which
 * ns-3 stores only as a length) in place of the remaining bytes. The pool keeps the remaining
 * bytes, the payload, as long as any copy or fragment of the packet exists, and JoinPacket() writes
 * them to their place. A byte tag (HeldPayloadTag) maps the zeros of a packet to the payload. The
 * packet and its copies also share the payload's packet tag: the reference count of this tag is
 * greater than one while any copy exists.
 *
 * Only the simulator's thread may use a pool.
 */
class HeldPayloads
{
  public:
    /** The numbers of received packets, by how they were passed to the simulation. */
    struct Counters
    {
        uint64_t held = 0; //!< packets passed with only their first bytes
        /** Packets passed with their payload, because the payload's length is out of range or a
         * protocol may read the payload. */
        uint64_t whole = 0;
        uint64_t poolFull = 0; //!< packets passed with their payload, because the pool was full
        /** Payloads that were copied, because they were still needed at the next Settle(). */
        uint64_t copied = 0;
    };

    /** A received packet, the argument of Hold(). */
    struct Received
    {
        std::span<const std::byte> ip; //!< the packet from its IP header on, without padding
        uint32_t before = 0;           //!< number of writable bytes before the packet in its frame
        /** Whether the bytes are valid until the next Settle(), not only during the call of Hold().
         */
        bool lasting = false;
    };

    /**
     * @param payloads the maximum number of payloads held
     * @param bytes the maximum length of a payload, bytes
     */
    HeldPayloads(uint32_t payloads, uint32_t bytes);
    ~HeldPayloads();
    HeldPayloads(const HeldPayloads&) = delete;
    HeldPayloads& operator=(const HeldPayloads&) = delete;

    /**
     * Holds the payload of a received IP packet, and creates a packet that has only the first
     * bytes. Holds nothing if the received packet must be passed with its payload.
     * @param received the received packet
     * @param headerBytes the number of first bytes; the headers of IP and transport are always
     * included
     * @return the created packet; null: the caller must pass the complete received packet
     */
    Ptr<Packet> Hold(const Received& received, uint32_t headerBytes);

    /** Handles the payloads held since the last call: copies the payloads that are still needed to
     * the pool's memory, and releases the others. Must be called before the received frames become
     * invalid. */
    void Settle();

    /** Takes over the pool of a device, and destroys it in this or a later call, when none of its
     * payloads is needed.
     * @param payloads the pool; null: only pools of earlier calls are destroyed
     */
    static void Retire(std::unique_ptr<HeldPayloads> payloads);

    /** @return the number of payloads that packets or frames still need */
    uint32_t CountWaiting() const;

    /** @return the counters */
    const Counters& GetCounters() const
    {
        return m_counters;
    }

    /** @return whether any pool of payloads exists; if not, no packet needs to be joined */
    static bool AreInUse()
    {
        return s_inUse;
    }

    /**
     * @param name the name of a payload (HeldPayloadTag::m_name)
     * @return the payload; null: the payload was released
     */
    static HeldPayload* Find(uint64_t name);

  private:
    /** Reserves a place for a payload.
     * @return the place; null: the pool is full */
    HeldPayload* Take();
    /** @return whether any packet or frame needs a payload */
    static bool IsNeeded(const HeldPayload& payload);
    /** Releases the payloads of m_waiting that are no longer needed. */
    void Sweep();
    /** Releases a payload.
     * @param index the payload's place */
    void Release(uint32_t index);

    uint32_t m_pool;                       //!< this pool's number
    uint32_t m_bytes;                      //!< maximum length of a payload, bytes
    std::unique_ptr<std::byte[]> m_memory; //!< memory for copies of all payloads
    std::vector<HeldPayload> m_payloads;   //!< all places of the pool
    /** Indices of free places; the place released last is reserved next. */
    std::vector<uint32_t> m_free;
    std::vector<uint32_t> m_recent;  //!< indices of the payloads reserved since the last Settle()
    std::vector<uint32_t> m_waiting; //!< indices of the payloads that Settle() has copied
    bool m_swept = false;            //!< whether Sweep() ran since the last Settle()
    Counters m_counters;             //!< the counters

    static bool s_inUse; //!< whether any pool exists; result of AreInUse()
};

/** The first header of a packet that is joined with its payloads. */
enum class FirstHeader
{
    IP,
    ETHERNET,
    OTHER
};

/**
 * @ingroup viaduct
 * @param packet a packet
 * @return whether some of the packet's bytes are held payloads
 */
bool HasHeldPayload(const Packet& packet);

/**
 * @ingroup viaduct
 * @param packet a packet
 * @return the payload at the packet's end, if the packet has all bytes of this payload and no other
 * held payload; otherwise null
 */
HeldPayload* FindWholePayload(const Packet& packet);

/**
 * @ingroup viaduct
 * Writes the bytes of a packet that leaves the simulation: the bytes that the packet would have if
 * the complete packet had been in the simulation. The transport checksum is completed if a protocol
 * has computed it over the zeros. Otherwise the checksum is not changed: it was updated (RFC 1624)
 * or left unchanged, or bits of the packet were flipped.
 *
 * @param packet the packet
 * @param bytes the buffer to which the bytes are written, of the packet's size
 * @param first the packet's first header
 * @return whether all payloads were written; false if a payload was released, or if the place of a
 * payload in the packet is unknown
 */
bool JoinPacket(const Packet& packet, std::span<std::byte> bytes, FirstHeader first);

/**
 * @ingroup viaduct
 * Returns the sum (RFC 1071) of the bytes of a packet that its transport checksum covers, with
 * zeros in place of the payload; 0xffff: the checksum is correct for a payload of zeros.
 * @param ip the bytes from the IP header to the payload
 * @param segment if the packet is the first fragment: length of the transport header and payload of
 * the unfragmented packet
 * @return the sum; 0 if the packet has no transport checksum
 */
uint16_t SumWithoutPayload(std::span<const std::byte> ip, uint32_t segment);

/**
 * @ingroup viaduct
 * Completes the transport checksum of a packet if it was computed with zeros in place of the
 * payload.
 * @param ip the bytes from the IP header to the payload
 * @param payload the payload that follows these bytes
 */
void CompleteChecksum(std::span<std::byte> ip, const HeldPayload& payload);

/**
 * @ingroup viaduct
 * Writes the held payloads of a packet into the packet, which keeps its uid and all other tags.
 * @param packet the packet
 * @param first the packet's first header
 */
void RestorePayload(Packet& packet, FirstHeader first);

/**
 * @ingroup viaduct
 * Copies the byte tags of a packet to another packet, except HeldPayloadTag.
 * @param from the packet whose tags are copied
 * @param to a packet of the same length
 */
void CopyByteTags(const Packet& from, Packet& to);

/** @return the number of packets that could not be joined with their payloads */
uint64_t CountLostPayloads();

} // namespace ns3

#endif /* VIADUCT_HELD_PAYLOADS_H */
