/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_PATH_NET_DEVICE_H
#define VIADUCT_PATH_NET_DEVICE_H

#include "ns3/callback.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/traced-callback.h"

#include <array>
#include <cstdint>

/**
 * @file
 * @ingroup viaduct
 * ns3::PathNetDevice declaration.
 */

namespace ns3
{

class PathChannel;

/**
 * @ingroup viaduct
 * @brief An Ethernet device on a PathChannel.
 *
 * It has neither a rate nor a queue: the channel has them. A frame is what it would be on a real
 * link of a lab: 14 bytes of header and the payload, without padding and FCS.
 *
 * A frame with bit errors reaches the node, whose checksums are to find them; where they are off
 * (global value ChecksumEnabled) it is dropped here, and so is one whose lengths ns-3's headers
 * would trip over.
 */
class PathNetDevice : public NetDevice
{
  public:
    /** Why a frame did not get through. */
    enum DropReason
    {
        TX_LINK_DOWN, //!< to be sent: there is no channel, or its plug is pulled
        TX_TOO_LONG,  //!< to be sent: longer than the MTU
        RX_CORRUPTED, //!< received: bit errors, and ChecksumEnabled is false
        RX_MALFORMED, //!< received: bit errors in a length of its headers
        N_DROP_REASONS
    };

    /**
     * TracedCallback signature for MacRxDrop and MacTxDrop.
     * @param [in] packet the frame (MacTxDrop: without Ethernet header)
     * @param [in] reason why it was dropped
     */
    typedef void (*DropTracedCallback)(Ptr<const Packet> packet, DropReason reason);

    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    PathNetDevice();
    ~PathNetDevice() override;

    /**
     * For PathChannel::Add().
     * @param channel the channel
     * @param place of this device among the channel's
     */
    void SetChannel(Ptr<PathChannel> channel, std::size_t place);

    /** The channel's plug was pulled or put back; for PathChannel. */
    void LinkChanged();

    /** @return place of this device among the channel's */
    std::size_t GetPlace() const;

    /**
     * A frame has arrived; for PathChannel.
     * @param frame from the destination address on
     * @param corrupted whether bits were flipped
     */
    void Receive(Ptr<Packet> frame, bool corrupted);

    /**
     * @param reason a reason
     * @return how many frames were dropped for it
     */
    uint64_t GetDrops(DropReason reason) const;

    // Inherited from NetDevice
    void SetIfIndex(const uint32_t index) override;
    uint32_t GetIfIndex() const override;
    Ptr<Channel> GetChannel() const override;
    void SetAddress(Address address) override;
    Address GetAddress() const override;
    bool SetMtu(const uint16_t mtu) override;
    uint16_t GetMtu() const override;
    bool IsLinkUp() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;
    bool IsBroadcast() const override;
    Address GetBroadcast() const override;
    bool IsMulticast() const override;
    Address GetMulticast(Ipv4Address multicastGroup) const override;
    Address GetMulticast(Ipv6Address addr) const override;
    bool IsBridge() const override;
    bool IsPointToPoint() const override;
    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override;
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocolNumber) override;
    Ptr<Node> GetNode() const override;
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(NetDevice::ReceiveCallback cb) override;
    void SetPromiscReceiveCallback(NetDevice::PromiscReceiveCallback cb) override;
    bool SupportsSendFrom() const override;

  protected:
    void DoDispose() override;

  private:
    /**
     * @param destination of a frame
     * @return what it is to this device
     */
    PacketType Classify(const Mac48Address& destination) const;
    /**
     * @param protocol EtherType of a frame with bit errors
     * @param payload its payload
     * @return N_DROP_REASONS if ns-3 can take it, else why not
     */
    static DropReason CheckCorrupted(uint16_t protocol, Ptr<const Packet> payload);
    /**
     * Count a received frame as dropped.
     * @param frame the frame
     * @param reason why
     */
    void DropReceived(Ptr<const Packet> frame, DropReason reason);
    /**
     * Count a packet to send as dropped.
     * @param packet the packet
     * @param reason why
     * @return false
     */
    bool DropSent(Ptr<const Packet> packet, DropReason reason);

    Ptr<Node> m_node;           //!< the node
    Ptr<PathChannel> m_channel; //!< the channel
    std::size_t m_place{0};     //!< of this device among the channel's
    uint32_t m_ifIndex{0};      //!< the device's number
    uint16_t m_mtu{1500};       //!< attribute Mtu
    Mac48Address m_address;     //!< attribute Address

    NetDevice::ReceiveCallback m_rxCallback;               //!< who receives
    NetDevice::PromiscReceiveCallback m_promiscRxCallback; //!< who receives everything
    TracedCallback<> m_linkChangeCallbacks;                //!< who wants to know the link's state
    std::array<uint64_t, N_DROP_REASONS> m_drops{};        //!< frames a reason

    TracedCallback<Ptr<const Packet>> m_macTxTrace;                 //!< trace source MacTx
    TracedCallback<Ptr<const Packet>, DropReason> m_macTxDropTrace; //!< trace source MacTxDrop
    TracedCallback<Ptr<const Packet>> m_macRxTrace;                 //!< trace source MacRx
    TracedCallback<Ptr<const Packet>> m_macPromiscRxTrace;          //!< trace source MacPromiscRx
    TracedCallback<Ptr<const Packet>, DropReason> m_macRxDropTrace; //!< trace source MacRxDrop
    TracedCallback<Ptr<const Packet>> m_snifferTrace;               //!< trace source Sniffer
    TracedCallback<Ptr<const Packet>> m_promiscSnifferTrace;        //!< trace source PromiscSniffer
};

} // namespace ns3

#endif /* VIADUCT_PATH_NET_DEVICE_H */
