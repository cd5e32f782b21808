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

  private:
    Ptr<FdReader> DoCreateFdReader() override;
};

} // namespace ns3

#endif // VIADUCT_LAB_FD_NET_DEVICE_H
