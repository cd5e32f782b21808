/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_RING_NET_DEVICE_H
#define VIADUCT_RING_NET_DEVICE_H

#include "ns3/base/drop-counter.h"
#include "ns3/device/departure-times.h"
#include "ns3/device/ethernet-net-device.h"
#include "ns3/payload/held-payloads.h"
#include "ns3/payload/unjoined-frames.h"
#include "ns3/reactor/burst-port.h"
#include "ns3/traced-value.h"

#include "port/port.h"
#include "port/super_frame.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace ns3
{

class NetDeviceQueueInterface;
class QueueLimits;
enum class InterfacePortKind;
struct InterfacePort;

/**
 * @ingroup viaduct
 * @brief The instant from which the lateness of a received frame is measured.
 */
enum class InterfaceStamps
{
    SOFTWARE, //!< arrival of the frame at the kernel, according to the kernel's time stamp
    USER,     //!< latest instant at which the port was found empty
};

/**
 * @ingroup viaduct
 * @brief An Ethernet device that sends and receives frames in bursts through a
 * viaduct::io::AnyPort.
 *
 * Frames to send are written into a preallocated ring and passed to the port as one burst at the
 * end of the reactor's turn, or when the ring is full. Received frames are
 * passed to ns-3 while the port's burst is processed, in the node's context, without an event.
 * Every frame that is not sent or passed up is counted with its reason.
 *
 * With the attribute FlowControl, queue discs can be installed above the device: the device stops
 * its transmission queue when its ring is full, and wakes it when the port has taken frames. Queue
 * limits (TrafficControlHelper::SetQueueLimits()) are notified of a frame when it is queued and
 * when it has left the port, as reported by the port (viaduct::io::AnyPort::BytesInFlight()).
 *
 * Under ns3::RealtimeSimulatorImpl a thread reads the port (slower); other simulator
 * implementations, which have no real time, are refused.
 */
class RingNetDevice : public EthernetNetDevice, private BurstPortUser
{
  public:
    /** The reason for which a frame was not sent or passed up. */
    enum DropReason
    {
        RX_RUNT,        //!< received frame is shorter than the Ethernet (or LLC/SNAP) header
        RX_TOO_LONG,    //!< received frame is longer than the MTU
        RX_MALFORMED,   //!< received frame has wrong lengths in an IP, UDP, TCP, ICMP or ARP header
        RX_IP_OPTIONS,  //!< received packet has IPv4 options, which ns-3's forwarding would corrupt
        RX_SUPER_FRAME, //!< received GRO/TSO frame or partial checksum contradicts itself
        RX_NOT_FOR_ME,  //!< received frame is for another address; no promiscuous callback is set
        RX_LINK_DOWN,   //!< frame was received while the link was down
        RX_QUEUE_FULL,  //!< queue of the reading thread is full (never under the reactor)
        TX_LINK_DOWN,   //!< frame to send, but the link is down or there is no port
        TX_TOO_LONG,    //!< frame to send is longer than the MTU
        TX_QUEUE_FULL,  //!< frame to send, but the ring is full and the port accepts no more frames
        TX_TOO_MANY_DEPARTURES, //!< frame to send later, but DepartureQueueSize frames already wait
        TX_PAYLOAD_LOST, //!< frame to send: payload is lost, or its place in the frame is unknown
        N_DROP_REASONS
    };

    /**
     * TracedCallback signature for MacRxDrop and MacTxDrop.
     * @param [in] packet the frame as far as it could be parsed
     * @param [in] reason the reason of the drop
     */
    typedef void (*DropTracedCallback)(Ptr<const Packet> packet, DropReason reason);

    /** @return the object TypeId */
    static TypeId GetTypeId();

    RingNetDevice();
    ~RingNetDevice() override;

    /** Sets the device's port; may be called at any time and replaces the previous port.
     * @param port the port that receives and sends frames, owned by the device
     */
    void SetPort(std::unique_ptr<viaduct::io::AnyPort> port);

    /**
     * @return the port, owned by the device; null if the device has no port
     */
    viaduct::io::AnyPort* GetPort() const
    {
        return m_burst.GetPort();
    }

    /**
     * @return a text that describes the kind and the state of the port and, if the attribute Port
     * is Auto, the reason for the kind; empty if the device has no port or the port has no
     * description
     */
    std::string GetPortDescription() const;

    /** @return a text that names what sends packets at the times of their DepartureTags (the qdisc
     * or the simulator's clock), and the reason */
    std::string GetDepartures() const;

    /** Sets the state of the device's link, e.g. from the kernel's carrier.
     * @param up true if frames can pass
     */
    void SetLinkUp(bool up);

    /**
     * Requires the attribute FlowControl.
     * @return the number of bytes of the frames that are queued in the device, and of the frames in
     * the kernel or driver below that the port reports
     */
    uint32_t GetBytesInFlight() const
    {
        return m_inFlight;
    }

    /** @return the lateness of received and sent frames */
    const PortTiming& GetTiming() const
    {
        return m_burst.GetTiming();
    }

    /** @return the lateness that 99% of received frames did not exceed */
    Time GetReceivedLateness() const
    {
        return NanoSeconds(GetTiming().received.Quantile(0.99));
    }

    /** @return the lateness that 99% of sent frames did not exceed, including frames sent by the
     * interface's qdisc */
    Time GetSentLateness() const;

    /**
     * Prints a line for each of: the port's description; what sends frames at their departure
     * times, if frames waited for such times; the lateness of frames; the numbers of frames
     * dropped, lost at the port, and passed without their payload.
     * @param os the stream
     */
    void PrintTiming(std::ostream& os) const;

    /** @return the payloads that are held outside the simulation, while packets with only their
     * headers are in the simulation; null without the attribute HeaderBytes */
    const HeldPayloads* GetHeldPayloads() const
    {
        return m_held.get();
    }

    /**
     * @param reason a reason
     * @return the number of frames dropped for this reason
     */
    uint64_t GetDrops(DropReason reason) const;

    /** @return the number of frames dropped for any reason except RX_NOT_FOR_ME */
    uint64_t GetTotalDrops() const;

    /**
     * @param reason a reason
     * @return the reason's name, as in "rx_too_long"
     */
    static const char* GetDropReasonName(DropReason reason);

    // Inherited from NetDevice
    bool SetMtu(const uint16_t mtu) override;
    bool IsLinkUp() const override
    {
        return m_linkUp;
    }

    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocolNumber) override;
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override
    {
        return m_needsArp;
    }

  protected:
    void DoInitialize() override;
    void DoDispose() override;

  private:
    // Inherited from BurstPortUser
    void HandleFrame(const viaduct::io::ReceivedFrame& frame) override;
    void HandleReturn() override;
    viaduct::io::FrameToSend Finish(uint32_t slot, std::span<std::byte> frame) override;
    void HandleOffered(uint32_t slot, bool taken) override;
    void HandleLateness(bool sent, viaduct::Duration lateness) override;
    void HandleRoom() override;
    void HandleTransmitted(uint64_t bytes) override;

    /** Opens the interface that the attributes name. Throws viaduct::Error on failure. */
    void OpenInterface();
    /** Handles link events of the opened interface. @return true if there were any events */
    bool ReadLinkEvents();
    /** Allocates the ring according to queue size and MTU. */
    void AllocateRing();
    /**
     * Handles one received frame, which has a complete checksum and is not a super-frame.
     * @param frame the frame, including its Ethernet header
     * @param lasting whether the frame is valid until HandleReturn(), not only during the call
     */
    void Receive(std::span<const std::byte> frame, bool lasting);
    /** @return a packet of a received frame's payload; with the attribute HeaderBytes, the packet
     * may have only the headers, and the remaining bytes are held */
    Ptr<Packet> MakePayload(std::span<const std::byte> frame,
                            std::span<const std::byte> payload,
                            uint16_t protocol,
                            bool lasting);
    /** Reports a frame, with its payload, to the trace sources of sent frames. @param held the
     * payload that is not in the frame yet, or null */
    void TraceWhole(std::span<std::byte> frame, const HeldPayload* held);
    /** @return the reason why ns-3 cannot process a payload of EtherType @p protocol;
     * N_DROP_REASONS if ns-3 can process the payload */
    static DropReason WhyRefused(uint16_t protocol, std::span<const std::byte> payload);
    /** Counts a received frame as dropped. */
    void DropReceived(std::span<const std::byte> frame, DropReason reason);
    /** Notifies the layer above that a frame of @p length bytes was queued. */
    void NotifyQueued(uint32_t length);
    /** Schedules a packet to be sent at time @p when. @return false if too many packets already
     * wait for their times */
    bool SendLater(Ptr<Packet> packet,
                   const Address& source,
                   const Address& dest,
                   uint16_t protocolNumber,
                   Time when);
    /**
     * Passes a packet to the interface's qdisc, which sends it at a time in the future.
     * @return false if the packet could not be passed to the qdisc
     */
    bool HandOver(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocolNumber,
                  Time when);
    /** Handles the qdisc's reports about packets. @return whether there were any reports */
    bool ReadDepartures();
    /** Counts a packet to send as dropped. @return false */
    bool DropSent(Ptr<const Packet> packet, DropReason reason);

    BurstPort m_burst{*this};                   //!< the port
    viaduct::io::SuperFrameSplitter m_splitter; //!< splits super-frames of the kernel
    std::unique_ptr<InterfacePort> m_opened;    //!< opened interface; m_burst has its port
    uint32_t m_monitor = 0;                     //!< id of the link monitor in the reactor
    uint32_t m_departed = 0;                    //!< id of InterfacePort::timed in the reactor
    std::unique_ptr<HeldPayloads> m_held;       //!< held payloads; null without HeaderBytes
    DepartureTimes m_departures{[this] { m_burst.SendNow(); }}; //!< frames that wait for their time
    UnjoinedFrames m_unjoined;                                  //!< frames whose payload is held
    bool m_ringAllocated = false;                               //!< whether the ring is allocated
    Ptr<NetDeviceQueueInterface> m_queueInterface;              //!< null if FlowControl is false
    Ptr<QueueLimits> m_limits;                                  //!< queue limits that are notified
    uint64_t m_unlimited = 0;         //!< bytes in flight that m_limits does not count
    TracedValue<uint32_t> m_inFlight; //!< trace source InFlight

    bool m_linkUp = false;         //!< whether the link is up
    uint32_t m_burstSize;          //!< attribute BurstSize
    uint32_t m_txQueueSize;        //!< attribute TxQueueSize
    bool m_needsArp;               //!< attribute NeedsArp
    bool m_reassembled;            //!< attribute Reassembled
    bool m_checkPackets;           //!< attribute CheckPackets
    bool m_flowControl;            //!< attribute FlowControl
    bool m_qdiscBypass;            //!< attribute QdiscBypass
    uint32_t m_queues;             //!< attribute Queues
    bool m_ringBlocks;             //!< attribute RingBlocks
    InterfacePortKind m_portKind;  //!< attribute Port
    InterfaceStamps m_stamps;      //!< attribute Timestamps
    uint32_t m_headerBytes;        //!< attribute HeaderBytes
    uint32_t m_heldPayloads;       //!< attribute HeldPayloads
    uint32_t m_departureQueueSize; //!< attribute DepartureQueueSize
    std::string m_interface;       //!< attribute Interface
    std::string m_namespace;       //!< attribute Namespace
    std::string m_filter;          //!< attribute Filter

    TracedCallback<Time> m_receivedLate;               //!< trace source ReceivedLate
    TracedCallback<Time> m_sentLate;                   //!< trace source SentLate
    DropCounter<DropReason, N_DROP_REASONS> m_rxDrops; //!< trace source MacRxDrop
    DropCounter<DropReason, N_DROP_REASONS> m_txDrops; //!< trace source MacTxDrop
};

} // namespace ns3

#endif /* VIADUCT_RING_NET_DEVICE_H */
