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
 * properties that end it, or change its frames, on a lab's interfaces.
 *
 * FdNetDevice says that it cannot multicast, and the IP layers end the program if they have a
 * multicast packet for such a device: RIP's, or IPv6's neighbour discovery. And it stops reading
 * for good when its descriptor reports an error, which a packet socket does once when its interface
 * goes down (net/packet/af_packet.c, packet_notifier()); the socket receives again after that. The
 * kernel takes 802.1Q's tags out of frames (net/core/dev.c, skb_vlan_untag()) and tells them beside
 * (PACKET_AUXDATA, which the socket must have been told to do); this device puts them back.
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

    /** @return how many frames the kernel dropped, as the device was too slow to read them */
    uint64_t GetKernelDrops();

    /** @return how many frames it read and dropped, as the simulator was too slow to take them; of
     * the last that it read nothing is known until it reads another */
    uint64_t GetQueueDrops();

  protected:
    void DoInitialize() override;

  private:
    class Reader;

    Ptr<FdReader> DoCreateFdReader() override;
    void DoFinishStoppingDevice() override;

    Ptr<Reader> m_reader;      //!< while the device runs
    uint16_t m_mtu{0};         //!< bytes; that of FdNetDevice has room for a tag
    uint64_t m_tooLong{0};     //!< frames
    uint64_t m_refused{0};     //!< frames
    uint64_t m_kernelDrops{0}; //!< frames
    uint64_t m_forwarded{0};   //!< frames that the simulator has got
};

} // namespace ns3

#endif // VIADUCT_LAB_FD_NET_DEVICE_H
