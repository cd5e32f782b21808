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
 * @brief Identifies the payload of the tagged bytes, which are zeros in the packet.
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

    uint64_t m_name = 0; //!< name of the payload
};

/**
 * @ingroup viaduct
 * @brief A payload that waits outside of the simulation for its packet to leave.
 */
struct HeldPayload
{
    std::span<const std::byte> bytes; //!< the payload
    uint32_t room = 0;                //!< writable bytes before it, in the received frame
    bool borrowed = false;            //!< whether a frame to be sent has been written there

    uint32_t position = 0; //!< offset in the payload of its original IP packet
    uint32_t segment = 0;  //!< bytes of the packet's transport header and payload; 0: a fragment
    uint16_t sum = 0;      //!< sum of the bytes before it which the transport checksum covers
    uint16_t id = 0;       //!< the packet's identification (IPv4)
    uint8_t protocol = 0;  //!< the packet's transport protocol

    uint32_t generation = 0;     //!< distinguishes it from others at the same place
    uint32_t uses = 0;           //!< frames to be sent that need it
    bool taken = false;          //!< whether there is a payload
    PacketTagList references;    //!< shared by all packets that need it
    std::byte* memory = nullptr; //!< for a copy, if it waits longer than its frame
};

/**
 * @ingroup viaduct
 * @brief The payloads of packets of which only the first bytes are in the simulation (header-only
 * passing).
 *
 * A packet made by Hold() has the first bytes of a received packet, and an area of zeros (which
 * ns-3 stores as a number) in place of the remaining bytes. These wait here as long as any copy or
 * fragment of the packet exists, and JoinPacket() writes them to their place. A byte tag maps the
 * bytes of a packet to their payload; the number of references of a packet tag, which a packet
 * shares with its copies, shows whether copies are left.
 *
 * For use by the simulator's thread.
 */
class HeldPayloads
{
  public:
    /** The numbers of received packets by their handling. */
    struct Counters
    {
        uint64_t held = 0;     //!< passed with their first bytes only
        uint64_t whole = 0;    //!< passed whole: short, or of a protocol that may be read further
        uint64_t poolFull = 0; //!< passed whole: too many payloads wait
        uint64_t copied = 0;   //!< held longer than their burst
    };

    /** The input of Hold(). */
    struct Received
    {
        std::span<const std::byte> ip; //!< the packet from its IP header on, without padding
        uint32_t before = 0;           //!< writable bytes of the frame before the packet
        bool lasting = false;          //!< valid until the next Settle(), not only during the call
    };

    /**
     * @param payloads the maximum number of waiting payloads
     * @param bytes the maximum length of a payload
     */
    HeldPayloads(uint32_t payloads, uint32_t bytes);
    ~HeldPayloads();
    HeldPayloads(const HeldPayloads&) = delete;
    HeldPayloads& operator=(const HeldPayloads&) = delete;

    /** Makes a packet of the first bytes of an IP packet, unless it must be passed whole.
     * @param received the packet
     * @param headerBytes the number of first bytes; headers of IP and transport are never cut
     * @return the packet; null: pass the whole packet
     */
    Ptr<Packet> Hold(const Received& received, uint32_t headerBytes);

    /** Keeps the payloads that are still needed: the received frames are no longer valid. */
    void Settle();

    /** Destroys the payloads of a device, as soon as none of them is needed.
     * @param payloads the payloads; may be null
     */
    static void Retire(std::unique_ptr<HeldPayloads> payloads);

    /** @return the number of waiting payloads */
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
     * @param name the name of a payload, see HeldPayloadTag
     * @return the payload; null: it was released
     */
    static HeldPayload* Find(uint64_t name);

  private:
    /** @return a free place for a payload; null if there is none */
    HeldPayload* Take();
    /** @return whether any packet or frame needs a payload */
    static bool IsNeeded(const HeldPayload& payload);
    /** Releases the payloads of m_waiting that are no longer needed. */
    void Sweep();
    /** Releases a payload. @param index the payload's place */
    void Release(uint32_t index);

    uint32_t m_pool;                       //!< this pool's number
    uint32_t m_bytes;                      //!< maximum length of a payload
    std::unique_ptr<std::byte[]> m_memory; //!< space for all payloads
    std::vector<HeldPayload> m_payloads;   //!< all places
    std::vector<uint32_t> m_free;          //!< free places; the one used last is the next
    std::vector<uint32_t> m_recent;        //!< payloads in frames that are still valid
    std::vector<uint32_t> m_waiting;       //!< all further payloads
    bool m_swept = false;                  //!< whether Sweep() ran since the last Settle()
    Counters m_counters;                   //!< the counters

    static bool s_inUse; //!< see AreInUse()
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
 * @return the payload at the packet's end if it is the only one, and whole; else null
 */
HeldPayload* FindWholePayload(const Packet& packet);

/**
 * @ingroup viaduct
 * Writes a packet's bytes as they leave the simulation: the bytes that would have left if the whole
 * packet had been in it. That includes the transport checksum: if a protocol has computed it anew,
 * over the zeros, it is completed; if it was updated (RFC 1624) or left unchanged, or bits were
 * changed, it stays.
 *
 * @param packet the packet
 * @param bytes the destination, of the packet's size
 * @param first the packet's first header
 * @return false if a payload was released, or its place in the packet is unknown
 */
bool JoinPacket(const Packet& packet, std::span<std::byte> bytes, FirstHeader first);

/**
 * @ingroup viaduct
 * Returns the sum of a packet's bytes which its transport checksum covers (RFC 1071), with zeros in
 * place of the payload; 0xffff: the checksum is right for these bytes.
 * @param ip the bytes from the IP header to the payload
 * @param segment bytes of transport header and payload, if the packet is the first fragment
 * @return the sum; 0 if there is no such checksum
 */
uint16_t SumWithoutPayload(std::span<const std::byte> ip, uint32_t segment);

/**
 * @ingroup viaduct
 * Completes the transport checksum of a packet if it was computed without the payload.
 * @param ip the bytes from the IP header to the payload
 * @param payload the payload that follows
 */
void CompleteChecksum(std::span<std::byte> ip, const HeldPayload& payload);

/**
 * @ingroup viaduct
 * Makes a packet whole; its uid and other tags stay.
 * @param packet the packet
 * @param first the packet's first header
 */
void RestorePayload(Packet& packet, FirstHeader first);

/**
 * @ingroup viaduct
 * Copies byte tags, except those of payloads that wait.
 * @param from a packet
 * @param to a packet of the same length
 */
void CopyByteTags(const Packet& from, Packet& to);

/** @return the number of packets that could not be joined */
uint64_t CountLostPayloads();

} // namespace ns3

#endif /* VIADUCT_HELD_PAYLOADS_H */
