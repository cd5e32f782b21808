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
 * ns-3's FdNetDevice on a packet socket, for a lab's mode traditional. It has the threads and
 * copies of FdNetDevice, but avoids the behaviour of FdNetDevice that ends the program, stops
 * reading or changes frames on a lab's interfaces.
 *
 * FdNetDevice reports that it cannot multicast, and the IP layers end the program if they have a
 * multicast packet for such a device; RIP and IPv6's neighbour discovery send multicast packets.
 * FdNetDevice also stops reading permanently when its descriptor reports an error. A packet socket
 * reports an error once when its interface goes down (net/packet/af_packet.c, packet_notifier()),
 * and receives frames again later. The kernel removes 802.1Q tags from frames (net/core/dev.c,
 * skb_vlan_untag()) and reports them separately (PACKET_AUXDATA, an option that must be set on the
 * socket); LabFdNetDevice restores the tags.
 */
class LabFdNetDevice : public FdNetDevice
{
  public:
    /** @return the object TypeId */
    static TypeId GetTypeId();

    LabFdNetDevice();
    ~LabFdNetDevice() override;

    // Inherited from FdNetDevice
    bool IsMulticast() const override
    {
        return true;
    }

    bool SetMtu(const uint16_t mtu) override;

    uint16_t GetMtu() const override
    {
        return m_mtu;
    }

    /** Drops frames longer than the MTU, which would end a simulation built with assertions. */
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& destination,
                  uint16_t protocol) override;

    /** @return the number of frames that were not sent because they were longer than the MTU */
    uint64_t GetTooLong() const
    {
        return m_tooLong;
    }

    /** @return the number of frames refused by the interface, or sent while it was down */
    uint64_t GetRefused() const
    {
        return m_refused;
    }

    /** @return the number of frames dropped by the kernel because the device read too slowly */
    uint64_t GetKernelDrops();

    /** @return the number of frames read and dropped because the simulator was too slow to process
     * them; the last frame read is counted only after another frame is read */
    uint64_t GetQueueDrops();

  protected:
    void DoInitialize() override;

  private:
    class Reader;

    Ptr<FdReader> DoCreateFdReader() override;
    void DoFinishStoppingDevice() override;

    Ptr<Reader> m_reader;      //!< reader of the socket; null unless the device runs
    uint16_t m_mtu{0};         //!< MTU, bytes; FdNetDevice's MTU is larger, for a VLAN tag
    uint64_t m_tooLong{0};     //!< frames dropped because they were longer than the MTU
    uint64_t m_refused{0};     //!< frames that the interface refused
    uint64_t m_kernelDrops{0}; //!< frames that the kernel dropped
    uint64_t m_forwarded{0};   //!< frames that the simulator has received
};

} // namespace ns3

#endif // VIADUCT_LAB_FD_NET_DEVICE_H
