/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_RING_NET_DEVICE_H
#define VIADUCT_RING_NET_DEVICE_H

#include "reactor-simulator-impl.h"

#include "ns3/callback.h"
#include "ns3/event-id.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/traced-callback.h"

#include "io/port.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

/**
 * @file
 * @ingroup viaduct
 * ns3::RingNetDevice declaration.
 */

namespace ns3
{

class PortReader;

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
class RingNetDevice : public NetDevice, private ReactorFlush
{
  public:
    /** Why a frame did not get through. */
    enum DropReason
    {
        RX_RUNT,          //!< received: shorter than its Ethernet (or LLC/SNAP) header
        RX_TOO_LONG,      //!< received: longer than the MTU
        RX_CHECKSUM,      //!< received: a partial checksum or super-frame the port should have resolved
        RX_NOT_FOR_ME,    //!< received: for another address, and nobody listens promiscuously
        RX_LINK_DOWN,     //!< received: the link is down
        RX_QUEUE_FULL,    //!< received: more than the reading thread may queue (not under the reactor)
        TX_LINK_DOWN,     //!< to be sent: the link is down, or there is no port
        TX_TOO_LONG,      //!< to be sent: longer than the MTU
        TX_QUEUE_FULL,    //!< to be sent: the ring is full and the port takes no more
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
    void NotifyNewAggregate() override;

  private:
    friend class PortReader;

    /** Start reading the port, in the reactor or by a thread. */
    void StartReading();
    /** The opposite. */
    void StopReading();
    /** Open the interface that the attributes name, if there is no port. */
    void OpenInterface();

    /**
     * The reactor's call: handle one burst.
     * @return true if there was work, or some is left
     */
    bool ReceiveBurst();
    /** @return true if the burst at hand was handled to its end */
    bool DeliverBurst();
    /**
     * One frame, in the node's context.
     * @param frame as the port gave it
     */
    void DeliverFrame(const viaduct::io::ReceivedFrame& frame);
    /**
     * Frames that the reading thread gathered (not under the reactor).
     * @param frames length (native uint32_t) and bytes of each
     */
    void DeliverCopies(std::shared_ptr<std::vector<std::byte>> frames);
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
    bool DropSent(Ptr<Packet> packet, DropReason reason);

    // Inherited from ReactorFlush
    bool FlushTurn() override;
    /** Give frames to the port until it takes no more. */
    void Transmit();
    /** Have Transmit() called at the end of the turn. */
    void RequestTransmit();
    /** Event of the above where there is no reactor. */
    void TransmitEvent();
    /** Make the ring fit queue size and MTU; frames in it are lost and counted. */
    void AllocateRing();
    /**
     * The frame as it is on the wire, for trace sinks.
     * @param packet payload
     * @param source address
     * @param destination address
     * @param protocol EtherType
     */
    void TraceSent(Ptr<const Packet> packet,
                   Mac48Address source,
                   Mac48Address destination,
                   uint16_t protocol);

    std::unique_ptr<viaduct::io::AnyPort> m_port; //!< the port
    std::mutex m_portMutex;                       //!< guards m_port while a thread reads it
    Ptr<PortReader> m_reader;                     //!< the thread, where there is no reactor
    Ptr<ReactorSimulatorImpl> m_reactor;          //!< the reactor, where there is one
    uint32_t m_pollable = 0;                      //!< the port's name in the reactor

    std::vector<viaduct::io::ReceivedFrame> m_received; //!< the burst at hand
    size_t m_nReceived = 0;                             //!< frames in it
    size_t m_nextReceived = 0;                          //!< next one to deliver

    std::vector<std::byte> m_txBuffer;               //!< the ring: slots of m_slotSize
    std::vector<viaduct::io::FrameToSend> m_txFrames; //!< what each slot holds
    uint32_t m_slotSize = 0;                         //!< bytes
    uint32_t m_txHead = 0;                           //!< oldest frame
    uint32_t m_txCount = 0;                          //!< frames in the ring
    bool m_flushRequested = false;                   //!< Transmit() is going to be called
    EventId m_transmitEvent;                         //!< the same where there is no reactor

    Ptr<Node> m_node;                //!< the node
    uint32_t m_nodeId = 0;           //!< its number
    uint32_t m_ifIndex = 0;          //!< the device's number
    uint16_t m_mtu = 1500;           //!< attribute Mtu
    Mac48Address m_address;          //!< attribute Address
    bool m_linkUp = false;           //!< the link's state
    bool m_initialized = false;      //!< DoInitialize() was called
    uint32_t m_burstSize;            //!< attribute BurstSize
    uint32_t m_txQueueSize;          //!< attribute TxQueueSize
    bool m_needsArp;                 //!< attribute NeedsArp
    bool m_flowControl;              //!< attribute FlowControl
    std::string m_interface;         //!< attribute Interface
    std::string m_namespace;         //!< attribute Namespace
    std::string m_filter;            //!< attribute Filter

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
