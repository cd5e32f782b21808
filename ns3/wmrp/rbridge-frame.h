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
 * A frame as ns-3's devices pass it on, and the bytes of its headers, by which
 * viaduct::rbridge::Forward() decides. A forwarded frame remains the same ns-3 packet, with its
 * tags.
 */
class RBridgeFrame
{
  public:
    /**
     * @param payload the bytes after the Ethernet header
     * @param protocol EtherType
     * @param source the sender
     * @param destination the receiver
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
     * Sends the frame, changed as was decided.
     * @param output the changes
     * @param device the device of its port, which counts frames that it does not send for another
     * reason
     * @return false: the frame is longer than the device's MTU, or the link is down
     */
    bool Send(const viaduct::rbridge::Output& output, Ptr<NetDevice> device) const;

  private:
    Ptr<const Packet> m_payload;                                  //!< the whole payload
    std::array<std::byte, viaduct::rbridge::kMaxHeaders> m_bytes; //!< result of GetBytes()
    size_t m_size;                                                //!< size of GetBytes()
};

} // namespace ns3

#endif // VIADUCT_RBRIDGE_FRAME_H
