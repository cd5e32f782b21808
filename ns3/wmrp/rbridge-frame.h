/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_RBRIDGE_FRAME_H
#define VIADUCT_RBRIDGE_FRAME_H

#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/packet.h"

#include "plane/rbridge/forward.h"

#include <array>
#include <cstdint>

namespace ns3
{

/**
 * @ingroup viaduct
 * A frame as ns-3's devices deliver it, and the bytes of its headers, which
 * viaduct::rbridge::Forward() reads to decide how the frame is forwarded. A forwarded frame remains
 * the same ns-3 packet, with its tags.
 */
class RBridgeFrame
{
  public:
    /**
     * @param payload the bytes after the Ethernet header
     * @param protocol the EtherType
     * @param source the sender's MAC address
     * @param destination the receiver's MAC address
     */
    RBridgeFrame(Ptr<const Packet> payload,
                 uint16_t protocol,
                 const Mac48Address& source,
                 const Mac48Address& destination);

    /** @return the first bytes of the frame, including all headers */
    viaduct::wire::ConstBytes GetBytes() const
    {
        return viaduct::wire::ConstBytes(m_bytes).first(m_size);
    }

    /**
     * Sends the frame with the changes that viaduct::rbridge::Forward() has decided.
     * @param output the changes and the output port
     * @param device the device of the output port. If the device drops the frame for a reason that
     * this method does not check, the device counts the drop
     * @return whether the frame was passed to the device; false if the frame is longer than the
     * device's MTU, the link is down, or the frame has no complete Ethernet header
     */
    bool Send(const viaduct::rbridge::Output& output, Ptr<NetDevice> device) const;

  private:
    Ptr<const Packet> m_payload; //!< the complete payload
    /** The first bytes of the frame, which GetBytes() returns. */
    std::array<std::byte, viaduct::rbridge::kMaxHeaders> m_bytes;
    size_t m_size; //!< number of bytes that GetBytes() returns
};

} // namespace ns3

#endif // VIADUCT_RBRIDGE_FRAME_H
