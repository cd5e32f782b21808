/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_RING_NET_DEVICE_H
#define VIADUCT_RING_NET_DEVICE_H

#include "ns3/burst-port.h"

#include "ns3/callback.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/traced-callback.h"

#include "io/port.h"
#include "io/super_frame.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

/**
 * @file
 * @ingroup viaduct
 * ns3::RingNetDevice declaration.
 */

namespace ns3
{

class NetDeviceQueueInterface;
struct InterfacePort;

/**
 * @ingroup viaduct
 * @brief An Ethernet device on a viaduct::io::AnyPort: frames go in and out in bursts.
 *
 * Frames to send are written into a preallocated ring and given to the port as one burst at the end
 * of the reactor's turn, or when the ring is full. Received frames enter ns-3 within the port's
 * burst, in their node's context, without an event. Every frame that does not get through is
 * counted with its reason.
 *
 * Under ns3::RealtimeSimulatorImpl a thread reads the port (slower); other simulators, which have
 * no real time, are refused.
 */
class RingNetDevice : public NetDevice, private BurstPortUser
{
  public:
    /** Why a frame did not get through. */
    enum DropReason
    {
        RX_RUNT,        //!< received: shorter than its Ethernet (or LLC/SNAP) header
        RX_TOO_LONG,    //!< received: longer than the MTU
        RX_MALFORMED,   //!< received: lengths in its IP, UDP, TCP, ICMP or ARP header are wrong
        RX_IP_OPTIONS,  //!< received: IPv4 options, which ns-3's forwarding would garble
        RX_SUPER_FRAME, //!< received: a GRO/TSO frame or partial checksum that contradicts itself
        RX_NOT_FOR_ME,  //!< received: for another address, and nobody listens promiscuously
        RX_LINK_DOWN,   //!< received: the link is down
        RX_QUEUE_FULL, //!< received: more than the reading thread may queue (not under the reactor)
        TX_LINK_DOWN,  //!< to be sent: the link is down, or there is no port
        TX_TOO_LONG,   //!< to be sent: longer than the MTU
        TX_QUEUE_FULL, //!< to be sent: the ring is full and the port takes no more
        N_DROP_REASONS
    };

    /**
     * TracedCallback signature for MacRxDrop and MacTxDrop.
     * @param [in] packet the frame as far as it was understood
     * @param [in] reason why it was dropped
     */
    typedef void (*DropTracedCallback)(Ptr<const Packet> packet, DropReason reason);

    /**
     * @brief Get the type ID.
     * @return the object TypeId
     */
    static TypeId GetTypeId();

    RingNetDevice();
    ~RingNetDevice() override;

    /**
     * Give the device its port; at any time, replaces the one it had.
     * @param port where frames come from and go to, owned from now on
     */
    void SetPort(std::unique_ptr<viaduct::io::AnyPort> port);

    /**
     * @return the port, owned by the device; null if there is none
     */
    viaduct::io::AnyPort* GetPort() const;

    /**
     * Tell the device of its link's state, e.g. from the kernel's carrier.
     * @param up true if frames can pass
     */
    void SetLinkUp(bool up);

    /**
     * @param reason a reason
     * @return how many frames were dropped for it
     */
    uint64_t GetDrops(DropReason reason) const;

    /** @return how many frames were dropped for any reason but being for somebody else */
    uint64_t GetTotalDrops() const;

    /**
     * @param reason a reason
     * @return its name, as in "rx_too_long"
     */
    static const char* GetDropReasonName(DropReason reason);

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
    void DoInitialize() override;
    void DoDispose() override;

  private:
    // Inherited from BurstPortUser
    void HandleFrame(const viaduct::io::ReceivedFrame& frame) override;
    void HandleRoom() override;

    /** Open the interface that the attributes name. Throws viaduct::Error if it cannot. */
    void OpenInterface();
    /**
     * The link of the interface that OpenInterface() opened may have changed.
     * @return true if something had happened
     */
    bool ReadLinkEvents();
    /** Make the ring fit queue size and MTU. */
    void AllocateRing();
    /**
     * One proper frame: no super-frame, its checksum complete.
     * @param bytes from the destination address on
     * @param length of it
     */
    void Receive(const uint8_t* bytes, uint32_t length);
    /**
     * Pass a frame on to whoever listens.
     * @param bytes the whole frame
     * @param headerLength bytes before the payload
     * @param payloadLength bytes of the payload
     * @param protocol EtherType
     */
    void PassUp(const uint8_t* bytes,
                uint32_t headerLength,
                uint32_t payloadLength,
                uint16_t protocol);
    /**
     * @param destination of a frame
     * @return what it is to this device
     */
    PacketType Classify(const Mac48Address& destination) const;
    /**
     * Count a received frame as dropped.
     * @param bytes the frame
     * @param length of it
     * @param reason why
     */
    void DropReceived(const uint8_t* bytes, uint32_t length, DropReason reason);
    /**
     * Count a frame to send as dropped.
     * @param packet its payload
     * @param reason why
     * @return false
     */
    bool DropSent(Ptr<const Packet> packet, DropReason reason);
    /**
     * Show a frame to MacTx and the sniffers, if anybody looks.
     * @param bytes the frame
     * @param length of it
     */
    void TraceSent(const uint8_t* bytes, uint32_t length);

    BurstPort m_burst{*this};                      //!< the port
    viaduct::io::SuperFrameSplitter m_splitter;    //!< makes proper frames of the kernel's
    std::unique_ptr<InterfacePort> m_opened;       //!< by OpenInterface(), without its port
    uint32_t m_monitor = 0;                        //!< its link monitor's name in the reactor
    bool m_ringAllocated = false;                  //!< AllocateRing() was called
    Ptr<NetDeviceQueueInterface> m_queueInterface; //!< with FlowControl only

    Ptr<Node> m_node;        //!< the node
    uint32_t m_ifIndex = 0;  //!< the device's number
    uint16_t m_mtu = 1500;   //!< attribute Mtu
    Mac48Address m_address;  //!< attribute Address
    bool m_linkUp = false;   //!< the link's state
    uint32_t m_burstSize;    //!< attribute BurstSize
    uint32_t m_txQueueSize;  //!< attribute TxQueueSize
    bool m_needsArp;         //!< attribute NeedsArp
    bool m_flowControl;      //!< attribute FlowControl
    std::string m_interface; //!< attribute Interface
    std::string m_namespace; //!< attribute Namespace
    std::string m_filter;    //!< attribute Filter

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

#endif /* VIADUCT_RING_NET_DEVICE_H */
