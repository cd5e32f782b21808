/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_LAB_FD_NET_DEVICE_H
#define VIADUCT_LAB_FD_NET_DEVICE_H

#include "ns3/fd-net-device.h"

namespace ns3
{

/**
 * @ingroup viaduct
 * ns-3's FdNetDevice on a packet socket, for mode traditional: the same threads and copies, without
 * two properties that end it on a lab's interfaces.
 *
 * FdNetDevice says that it cannot multicast, and the IP layers end the program if they have a
 * multicast packet for such a device: RIP's, or IPv6's neighbour discovery. And it stops reading
 * for good when its descriptor reports an error, which a packet socket does once when its interface
 * goes down (net/packet/af_packet.c, packet_notifier()); the socket receives again after that.
 */
class LabFdNetDevice : public FdNetDevice
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    // Inherited from FdNetDevice
    bool IsMulticast() const override
    {
        return true;
    }

    /** Drops frames longer than the MTU, which would end a simulation built with assertions. */
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& destination,
                  uint16_t protocol) override;

    /** @return how many frames to be sent were longer than the MTU */
    uint64_t GetTooLong() const
    {
        return m_tooLong;
    }

    /** @return how many frames the interface did not take, or came while it was down */
    uint64_t GetRefused() const
    {
        return m_refused;
    }

  private:
    Ptr<FdReader> DoCreateFdReader() override;

    uint64_t m_tooLong{0}; //!< frames
    uint64_t m_refused{0}; //!< frames
};

} // namespace ns3

#endif // VIADUCT_LAB_FD_NET_DEVICE_H
