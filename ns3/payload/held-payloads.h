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
 * @brief Says whose payload the bytes so tagged are, which are zeros in the packet.
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

    uint64_t m_name = 0; //!< of the payload
};

/**
 * @ingroup viaduct
 * @brief A payload that waits outside of the simulation for its packet to leave.
 */
struct HeldPayload
{
    std::span<const std::byte> bytes; //!< the payload
    uint32_t room = 0;                //!< writable bytes before it, of the frame received
    bool borrowed = false;            //!< a frame to be sent has been written there

    uint32_t position = 0; //!< where it begins in the payload of the IP packet that it is of
    uint32_t segment = 0;  //!< bytes of that one's transport header and payload; 0: a fragment
    uint16_t sum = 0;      //!< of the bytes before it which the transport checksum covers
    uint16_t id = 0;       //!< that one's identification (IPv4)
    uint8_t protocol = 0;  //!< that of its transport

    uint32_t generation = 0;     //!< tells it from others at the same place
    uint32_t uses = 0;           //!< frames to be sent that need it
    bool taken = false;          //!< there is a payload
    PacketTagList references;    //!< shared by all packets that need it
    std::byte* memory = nullptr; //!< where it is copied if it waits longer than its frame
};

/**
 * @ingroup viaduct
 * @brief The payloads of packets of which only the first bytes are in the simulation (header-only
 * passing).
 *
 * A packet that Hold() has made has the first bytes of a received packet, and an area of zeros
 * (which ns-3 stores as a number) in place of the others. These wait here as long as any copy or
 * fragment of the packet exists, and JoinPacket() writes them where they belong. A byte tag says
 * which bytes of a packet are whose; a packet tag, which a packet shares with its copies, tells by
 * its number of references whether there are any left.
 *
 * For use by the simulator's thread.
 */
class HeldPayloads
{
  public:
    /** What happened to the packets received. */
    struct Counters
    {
        uint64_t held = 0;     //!< only their first bytes were passed
        uint64_t whole = 0;    //!< passed whole: short, or of a protocol that may be read further
        uint64_t poolFull = 0; //!< passed whole: too many payloads wait
        uint64_t copied = 0;   //!< those held that waited longer than their burst
    };

    /** What Hold() has to know of a packet. */
    struct Received
    {
        std::span<const std::byte> ip; //!< from its IP header on, without padding
        uint32_t before = 0;           //!< writable bytes of the frame before it, which it may use
        bool lasting = false;          //!< valid until the next Settle(), not only for the call
    };

    /**
     * @param payloads how many may wait
     * @param bytes the longest of them
     */
    HeldPayloads(uint32_t payloads, uint32_t bytes);
    ~HeldPayloads();
    HeldPayloads(const HeldPayloads&) = delete;
    HeldPayloads& operator=(const HeldPayloads&) = delete;

    /** Make a packet of the first bytes of an IP packet, unless it must be passed whole.
     * @param received the packet
     * @param headerBytes how many bytes the packet gets; headers of IP and transport are never cut
     * @return the packet; null: pass the whole
     */
    Ptr<Packet> Hold(const Received& received, uint32_t headerBytes);

    /** The received frames are no longer valid: keep the payloads that are still needed. */
    void Settle();

    /** Destroy the payloads of a device, as soon as nobody needs any of them.
     * @param payloads the payloads; may be null
     */
    static void Retire(std::unique_ptr<HeldPayloads> payloads);

    /** @return how many payloads wait */
    uint32_t CountWaiting() const;

    /** @return the counters */
    const Counters& GetCounters() const
    {
        return m_counters;
    }

    /** @return whether there are any payloads of anybody's; if not, no packet needs to be joined */
    static bool AreInUse()
    {
        return s_inUse;
    }

    /**
     * @param name of a payload, see HeldPayloadTag
     * @return the payload; null: it is gone
     */
    static HeldPayload* Find(uint64_t name);

  private:
    /** @return a payload's place; null if there is none */
    HeldPayload* Take();
    /** @return whether any packet or frame needs a payload */
    static bool IsNeeded(const HeldPayload& payload);
    /** Release those payloads of m_waiting that nobody needs any more. */
    void Sweep();
    /** Release a payload. @param index its place */
    void Release(uint32_t index);

    uint32_t m_pool;                       //!< this one's number
    uint32_t m_bytes;                      //!< the longest payload
    std::unique_ptr<std::byte[]> m_memory; //!< room for all of them
    std::vector<HeldPayload> m_payloads;   //!< all places
    std::vector<uint32_t> m_free;          //!< without a payload; the one used last is the next
    std::vector<uint32_t> m_recent;        //!< of frames that are still valid
    std::vector<uint32_t> m_waiting;       //!< others
    bool m_swept = false;                  //!< since the last Settle()
    Counters m_counters;                   //!< the counters

    static bool s_inUse; //!< see AreInUse()
};

/** What packets start with, for those who join them with their payloads. */
enum class FirstHeader
{
    IP,
    ETHERNET,
    OTHER
};

/**
 * @ingroup viaduct
 * @param packet a packet
 * @return whether some of its bytes wait elsewhere
 */
bool HasHeldPayload(const Packet& packet);

/**
 * @ingroup viaduct
 * @param packet a packet
 * @return the payload that it ends with if that is its only one, and whole; else null
 */
HeldPayload* FindWholePayload(const Packet& packet);

/**
 * @ingroup viaduct
 * Write a packet's bytes as they leave the simulation: what would have left had the whole packet
 * been in it. That includes the transport checksum: if a protocol has computed it anew, over the
 * zeros, it is completed; if it was updated (RFC 1624) or left alone, or bits were changed, it
 * stays.
 *
 * @param packet the packet
 * @param bytes where to, as many as it has
 * @param first what it starts with
 * @return false if a payload is gone, or where it belongs cannot be told
 */
bool JoinPacket(const Packet& packet, std::span<std::byte> bytes, FirstHeader first);

/**
 * @ingroup viaduct
 * The sum of a packet's bytes which its transport checksum covers (RFC 1071), with zeros in place
 * of the payload; 0xffff: the checksum is right for these.
 * @param ip from the IP header to where the payload begins
 * @param segment bytes of transport header and payload, if the packet is the first fragment
 * @return the sum; 0 if there is no such checksum
 */
uint16_t SumWithoutPayload(std::span<const std::byte> ip, uint32_t segment);

/**
 * @ingroup viaduct
 * Complete the transport checksum of a packet if it was computed without the payload.
 * @param ip from the IP header to where the payload begins
 * @param payload the payload that follows
 */
void CompleteChecksum(std::span<std::byte> ip, const HeldPayload& payload);

/**
 * @ingroup viaduct
 * Make a packet whole; its uid and other tags stay.
 * @param packet the packet
 * @param first what it starts with
 */
void RestorePayload(Packet& packet, FirstHeader first);

/**
 * @ingroup viaduct
 * Copy byte tags, but those of payloads that wait.
 * @param from a packet
 * @param to another of the same length
 */
void CopyByteTags(const Packet& from, Packet& to);

/** @return how many packets could not be joined */
uint64_t CountLostPayloads();

} // namespace ns3

#endif /* VIADUCT_HELD_PAYLOADS_H */
