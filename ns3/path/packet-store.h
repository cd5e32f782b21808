/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PACKET_STORE_H
#define VIADUCT_PACKET_STORE_H

#include "ns3/packet.h"
#include "ns3/ptr.h"

#include "path/packet/packet.h"

#include <optional>
#include <span>
#include <vector>

namespace ns3
{

/**
 * @ingroup viaduct
 * @brief A store of the frames of an emulated path, which are ns-3 packets.
 *
 * Take() returns the packet object that was added, unless the bytes of the packet were changed (bit
 * errors, ECN marks). In that case, Take() returns a packet with the new bytes and the uid and tags
 * of the original packet.
 */
class PacketStore : public viaduct::path::FrameStore
{
  public:
    /**
     * @param packet a frame, including its Ethernet header
     * @return the frame's handle
     */
    viaduct::path::FrameHandle Add(Ptr<Packet> packet);
    /**
     * @param frame the frame's handle
     * @return the packet as it was passed to Add()
     */
    Ptr<const Packet> Peek(viaduct::path::FrameHandle frame) const;
    /**
     * Removes a frame.
     * @param frame the frame's handle, which becomes invalid
     * @return the packet with its current bytes
     */
    Ptr<Packet> Take(viaduct::path::FrameHandle frame);

    // Inherited from FrameStore
    std::span<std::byte> Bytes(viaduct::path::FrameHandle frame) override;
    std::optional<viaduct::path::FrameHandle> Clone(viaduct::path::FrameHandle frame) override;
    void CompleteChecksum(viaduct::path::FrameHandle frame) override;
    void Free(viaduct::path::FrameHandle frame) override;

  private:
    /** A slot of the store for one frame. */
    struct Slot
    {
        Ptr<Packet> packet;           //!< packet of the frame; null: the slot is free
        std::vector<std::byte> bytes; //!< bytes of the frame; empty: not accessed yet
    };

    std::vector<Slot> m_slots;                      //!< slots by handle
    std::vector<viaduct::path::FrameHandle> m_free; //!< handles of free slots
};

} // namespace ns3

#endif /* VIADUCT_PACKET_STORE_H */
