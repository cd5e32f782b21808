/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PATH_NET_DEVICE_H
#define VIADUCT_PATH_NET_DEVICE_H

#include "ns3/base/drop-counter.h"
#include "ns3/device/ethernet-net-device.h"

#include <cstdint>

namespace ns3
{

class PathChannel;

/**
 * @ingroup viaduct
 * @brief An Ethernet device on a PathChannel.
 *
 * The device has neither a rate nor a queue: the channel has them. Frames have the same format as
 * on a real link of a lab.
 *
 * A frame with bit errors reaches the node, whose checksums must detect them; the device drops the
 * frame if checksums are off (global value ChecksumEnabled), or if ns-3's headers cannot handle its
 * length fields.
 */
class PathNetDevice : public EthernetNetDevice
{
  public:
    /** The reason for which a frame was not sent or passed up. */
    enum DropReason
    {
        TX_LINK_DOWN, //!< frame to send, but there is no channel or the channel is unplugged
        TX_TOO_LONG,  //!< frame to send is longer than the MTU
        RX_CORRUPTED, //!< received frame has bit errors, and ChecksumEnabled is false
        RX_MALFORMED, //!< received frame has bit errors in a length field of a header
        RX_LINK_DOWN, //!< channel was unplugged before the frame was received
        N_DROP_REASONS
    };

    /**
     * TracedCallback signature for MacRxDrop and MacTxDrop.
     * @param [in] packet the frame; for MacTxDrop, without its Ethernet header
     * @param [in] reason the reason of the drop
     */
    typedef void (*DropTracedCallback)(Ptr<const Packet> packet, DropReason reason);

    /** @return the object TypeId */
    static TypeId GetTypeId();

    /**
     * Attaches the device to a channel; called by PathChannel::Add().
     * @param channel the channel
     * @param place index of this device in the channel
     */
    void SetChannel(Ptr<PathChannel> channel, std::size_t place);

    /** Reports that the channel was unplugged or plugged in; called by PathChannel. */
    void LinkChanged();

    /** @return the index of this device in the channel */
    std::size_t GetPlace() const
    {
        return m_place;
    }

    /**
     * Receives a frame that has passed through the channel; the channel may have been unplugged
     * meanwhile. Called by PathChannel.
     * @param frame the frame, including its Ethernet header
     * @param corrupted whether the channel has flipped bits of the frame
     */
    void Receive(Ptr<Packet> frame, bool corrupted);

    /**
     * @param reason a reason
     * @return the number of frames dropped for this reason
     */
    uint64_t GetDrops(DropReason reason) const;

    // Inherited from NetDevice
    Ptr<Channel> GetChannel() const override;
    bool IsLinkUp() const override;
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocolNumber) override;

  protected:
    void DoDispose() override;

  private:
    /** @return the reason why ns-3 cannot process a payload with bit errors; N_DROP_REASONS if ns-3
     * can process the payload */
    static DropReason CheckCorrupted(uint16_t protocol, Ptr<const Packet> payload);

    Ptr<PathChannel> m_channel; //!< the channel
    std::size_t m_place{0};     //!< index of this device in the channel

    DropCounter<DropReason, N_DROP_REASONS> m_rxDrops; //!< trace source MacRxDrop
    DropCounter<DropReason, N_DROP_REASONS> m_txDrops; //!< trace source MacTxDrop
};

} // namespace ns3

#endif /* VIADUCT_PATH_NET_DEVICE_H */
