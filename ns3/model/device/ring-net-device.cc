/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ring-net-device.h"

#include "frame-check.h"
#include "interface-port.h"
#include "wire-conversion.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/log.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/queue-limits.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include "wire/ethernet.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RingNetDevice");

NS_OBJECT_ENSURE_REGISTERED(RingNetDevice);

namespace
{

namespace wire = viaduct::wire;

constexpr uint32_t LLC_SNAP_HEADER = 8;   //!< IEEE 802.2 LLC and SNAP
constexpr uint16_t MAXIMUM_LENGTH = 1500; //!< up to here length, above type (IEEE 802.3)
constexpr uint32_t SLOT_ALIGNMENT = 64;   //!< a cache line
/// LLC of SNAP and the organisation code of an EtherType (RFC 1042).
constexpr std::array<uint8_t, 6> SNAP_ETHERTYPE{0xaa, 0xaa, 0x03, 0, 0, 0};

/**
 * @return the longest payload of a frame of this EtherType: a VLAN tag of the user's does not count
 */
uint32_t
LongestPayload(uint16_t mtu, uint16_t protocol)
{
    return mtu + (protocol == wire::ether_type::kVlan ? wire::VlanTag::kSize : 0);
}

/** The payload of an 802.3 frame. */
struct LlcPayload
{
    uint16_t protocol;               //!< EtherType if there is a SNAP header, else the length
    std::span<const std::byte> rest; //!< what follows the headers, without padding
};

/** @return the payload of a frame whose length field is @p length and whose data is not shorter */
LlcPayload
ReadLlc(uint16_t length, std::span<const std::byte> payload)
{
    payload = payload.first(length);
    if (length < LLC_SNAP_HEADER ||
        std::memcmp(payload.data(), SNAP_ETHERTYPE.data(), SNAP_ETHERTYPE.size()) != 0)
    {
        return {length, payload};
    }
    return {wire::Load16(&payload[SNAP_ETHERTYPE.size()]), payload.subspan(LLC_SNAP_HEADER)};
}

/** @return a packet of these bytes */
Ptr<Packet>
MakePacket(std::span<const std::byte> bytes)
{
    return Create<Packet>(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

} // namespace

TypeId
RingNetDevice::GetTypeId()
{
    static TypeId tid =
        AddAttributes(TypeId("ns3::RingNetDevice")
                          .SetParent<EthernetNetDevice>()
                          .SetGroupName("Viaduct")
                          .AddConstructor<RingNetDevice>())
            .AddAttribute("BurstSize",
                          "How many frames are read from the port at once.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&RingNetDevice::m_burstSize),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("TxQueueSize",
                          "How many frames may wait for the port to accept them.",
                          UintegerValue(256),
                          MakeUintegerAccessor(&RingNetDevice::m_txQueueSize),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("NeedsArp",
                          "Whether next hops must be resolved; false on control ports, where the "
                          "kernel does it.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RingNetDevice::m_needsArp),
                          MakeBooleanChecker())
            .AddAttribute("Reassembled",
                          "Whether received packets may be longer than the MTU; true on control "
                          "ports, where the kernel has put fragments together.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RingNetDevice::m_reassembled),
                          MakeBooleanChecker())
            .AddAttribute("CheckPackets",
                          "Whether received packets are dropped that ns-3's IP layer cannot read; "
                          "false on ports of an RBridge, which passes on what it does not read.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RingNetDevice::m_checkPackets),
                          MakeBooleanChecker())
            .AddAttribute("FlowControl",
                          "Aggregate a NetDeviceQueueInterface, so that queue discs can be "
                          "installed. Costs time for every frame. To be set before the device "
                          "joins its node.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RingNetDevice::m_flowControl),
                          MakeBooleanChecker())
            .AddAttribute("BytesInFlight",
                          "Bytes of frames that are queued in the device, and in the kernel or "
                          "driver below as far as the port can tell; with FlowControl only.",
                          TypeId::ATTR_GET,
                          UintegerValue(0),
                          MakeUintegerAccessor(&RingNetDevice::GetBytesInFlight),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("QdiscBypass",
                          "Whether frames go past the queueing discipline of Interface: faster; "
                          "false if it is to shape them.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RingNetDevice::m_qdiscBypass),
                          MakeBooleanChecker())
            .AddAttribute("Interface",
                          "The interface to open (as root) if no port was set.",
                          StringValue(""),
                          MakeStringAccessor(&RingNetDevice::m_interface),
                          MakeStringChecker())
            .AddAttribute("Namespace",
                          "The network namespace, name or path, that Interface is in; empty for "
                          "the process's own.",
                          StringValue(""),
                          MakeStringAccessor(&RingNetDevice::m_namespace),
                          MakeStringChecker())
            .AddAttribute(
                "Filter",
                "The filter of frames received from Interface, in tcpdump's syntax; empty for all.",
                StringValue(""),
                MakeStringAccessor(&RingNetDevice::m_filter),
                MakeStringChecker())
            .AddTraceSource("InFlight",
                            "The attribute BytesInFlight has changed.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_inFlight),
                            "ns3::TracedValueCallback::Uint32")
            .AddTraceSource("MacTxDrop",
                            "A packet was not sent: packet without Ethernet header, reason.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_txDrops),
                            "ns3::RingNetDevice::DropTracedCallback")
            .AddTraceSource("MacRxDrop",
                            "A received frame was dropped: frame, reason.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_rxDrops),
                            "ns3::RingNetDevice::DropTracedCallback");
    return tid;
}

RingNetDevice::RingNetDevice()
{
    NS_LOG_FUNCTION(this);
}

RingNetDevice::~RingNetDevice()
{
    NS_LOG_FUNCTION(this);
}

void
RingNetDevice::DoInitialize()
{
    NS_LOG_FUNCTION(this);
    NS_ABORT_MSG_IF(!GetNode(), "RingNetDevice: add the device to a node first");
    if (!m_burst.GetPort() && !m_interface.empty())
    {
        OpenInterface();
    }
    AllocateRing();
    m_burst.Start(GetNode()->GetId());
    SetLinkUp(m_burst.GetPort() != nullptr && (!m_opened || m_opened->running));
    EthernetNetDevice::DoInitialize();
}

void
RingNetDevice::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_burst.Stop();
    m_burst.SetPort(nullptr);
    if (Ptr<ReactorSimulatorImpl> reactor = m_opened ? ReactorSimulatorImpl::Get() : nullptr)
    {
        reactor->RemovePollable(m_monitor);
    }
    m_opened = nullptr;
    m_queueInterface = nullptr;
    m_limits = nullptr;
    EthernetNetDevice::DoDispose();
}

void
RingNetDevice::OpenInterface()
{
    NS_LOG_FUNCTION(this << m_interface << m_namespace << m_filter);
    m_opened = std::make_unique<InterfacePort>(
        OpenInterfacePort(m_namespace, m_interface, m_filter, m_qdiscBypass));
    NS_ABORT_MSG_IF(m_opened->mtu < GetMtu(),
                    "RingNetDevice: " << m_interface << " carries " << m_opened->mtu
                                      << " bytes at most: set the attribute Mtu to that or less");
    m_burst.SetPort(std::move(m_opened->port));
    if (Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get())
    {
        m_monitor = reactor->AddPollable(m_opened->monitor->Fd(),
                                         Callback<bool>([this] { return ReadLinkEvents(); }));
    }
}

bool
RingNetDevice::ReadLinkEvents()
{
    const auto events = m_opened->monitor->Read();
    for (const auto& event : events)
    {
        if (event.ifindex == m_opened->ifindex)
        {
            SetLinkUp(event.running && !event.removed);
        }
    }
    return !events.empty();
}

void
RingNetDevice::SetPort(std::unique_ptr<viaduct::io::AnyPort> port)
{
    NS_LOG_FUNCTION(this << port.get());
    m_burst.SetPort(std::move(port));
    if (IsInitialized())
    {
        SetLinkUp(m_burst.GetPort() != nullptr);
    }
}

void
RingNetDevice::AllocateRing()
{
    const uint32_t frame = GetMtu() + wire::EthernetHeader::kSize + wire::VlanTag::kSize;
    BurstPort::Sizes sizes;
    sizes.burst = m_burstSize;
    sizes.queue = m_txQueueSize;
    sizes.frame = (frame + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
    m_txDrops.Count(TX_QUEUE_FULL, m_burst.SetSizes(sizes));
    m_ringAllocated = true;
}

// ---------------------------------------------------------------- received

void
RingNetDevice::HandleFrame(const viaduct::io::ReceivedFrame& frame)
{
    if (!m_splitter.Split(frame, [this](std::span<std::byte> bytes) { Receive(bytes); }))
    {
        DropReceived(frame.bytes, RX_SUPER_FRAME);
    }
}

void
RingNetDevice::Receive(std::span<const std::byte> frame)
{
    if (!m_linkUp)
    {
        return DropReceived(frame, RX_LINK_DOWN);
    }
    const auto header = wire::EthernetHeader::Parse(frame);
    if (!header)
    {
        return DropReceived(frame, RX_RUNT);
    }
    LlcPayload payload{header->type, frame.subspan(wire::EthernetHeader::kSize)};
    if (payload.rest.size() > LongestPayload(EthernetNetDevice::GetMtu(), header->type) &&
        !m_reassembled)
    {
        return DropReceived(frame, RX_TOO_LONG);
    }
    if (header->type <= MAXIMUM_LENGTH)
    {
        if (header->type > payload.rest.size())
        {
            return DropReceived(frame, RX_RUNT);
        }
        payload = ReadLlc(header->type, payload.rest);
    }
    const DropReason reason =
        m_checkPackets ? WhyRefused(payload.protocol, payload.rest) : N_DROP_REASONS;
    if (reason != N_DROP_REASONS)
    {
        return DropReceived(frame, reason);
    }
    const std::byte* const end = payload.rest.data() + payload.rest.size();
    const std::span<const std::byte> unpadded(frame.data(), end);
    const Mac48Address destination = wireconversion::ToMac48(header->destination);
    if (Classify(destination) == NS3_PACKET_OTHERHOST && !IsPromiscuous())
    {
        return DropReceived(unpadded, RX_NOT_FOR_ME);
    }
    const Ptr<const Packet> whole = IsReceptionTraced() ? MakePacket(unpadded) : nullptr;
    if (whole)
    {
        TraceReceived(whole);
    }
    PassUp({whole,
            MakePacket(payload.rest),
            payload.protocol,
            wireconversion::ToMac48(header->source),
            destination});
}

RingNetDevice::DropReason
RingNetDevice::WhyRefused(uint16_t protocol, std::span<const std::byte> payload)
{
    if (!IsParsable(protocol, payload))
    {
        return RX_MALFORMED;
    }
    return HasIpv4Options(protocol, payload) ? RX_IP_OPTIONS : N_DROP_REASONS;
}

void
RingNetDevice::DropReceived(std::span<const std::byte> frame, DropReason reason)
{
    if (m_rxDrops.IsEmpty())
    {
        return m_rxDrops.Count(reason);
    }
    m_rxDrops.Drop(MakePacket(frame), reason);
}

// ---------------------------------------------------------------- sent

bool
RingNetDevice::SendFrom(Ptr<Packet> packet,
                        const Address& source,
                        const Address& dest,
                        uint16_t protocolNumber)
{
    NS_LOG_FUNCTION(this << packet << source << dest << protocolNumber);
    if (!m_linkUp || !m_burst.GetPort())
    {
        return DropSent(packet, TX_LINK_DOWN);
    }
    const uint32_t payload = packet->GetSize();
    if (payload > LongestPayload(EthernetNetDevice::GetMtu(), protocolNumber))
    {
        return DropSent(packet, TX_TOO_LONG);
    }
    const std::span<std::byte> room = m_burst.Reserve();
    if (room.empty())
    {
        if (m_queueInterface)
        {
            m_queueInterface->GetTxQueue(0)->Stop();
        }
        return DropSent(packet, TX_QUEUE_FULL);
    }
    const std::span<std::byte> frame = room.first(wire::EthernetHeader::kSize + payload);
    wire::EthernetHeader{wireconversion::ToWire(Mac48Address::ConvertFrom(dest)),
                         wireconversion::ToWire(Mac48Address::ConvertFrom(source)),
                         protocolNumber}
        .Write(frame);
    packet->CopyData(reinterpret_cast<uint8_t*>(frame.data() + wire::EthernetHeader::kSize),
                     payload);
    if (IsSendingTraced())
    {
        TraceSent(MakePacket(frame));
    }
    m_burst.Commit(frame.size());
    if (m_queueInterface)
    {
        NotifyQueued(frame.size());
    }
    return true;
}

void
RingNetDevice::NotifyQueued(uint32_t length)
{
    Ptr<NetDeviceQueue> queue = m_queueInterface->GetTxQueue(0);
    m_inFlight = m_burst.GetBytesInFlight();
    if (m_limits != queue->GetQueueLimits())
    {
        m_limits = queue->GetQueueLimits();
        m_unlimited = m_inFlight - length;
    }
    queue->NotifyQueuedBytes(length);
    if (!m_burst.HasRoom())
    {
        queue->Stop(); // before a packet comes for which there is no room
    }
}

bool
RingNetDevice::DropSent(Ptr<const Packet> packet, DropReason reason)
{
    NS_LOG_LOGIC("drop: " << GetDropReasonName(reason));
    m_txDrops.Drop(packet, reason);
    return false;
}

void
RingNetDevice::HandleRoom()
{
    if (m_queueInterface)
    {
        m_queueInterface->GetTxQueue(0)->Wake();
    }
}

void
RingNetDevice::HandleTransmitted(uint64_t bytes)
{
    m_inFlight = m_burst.GetBytesInFlight();
    const uint64_t older = std::min(bytes, m_unlimited);
    m_unlimited -= older;
    Ptr<NetDeviceQueue> queue = m_queueInterface->GetTxQueue(0);
    if (m_limits && m_limits == queue->GetQueueLimits())
    {
        queue->NotifyTransmittedBytes(static_cast<uint32_t>(bytes - older));
    }
}

uint64_t
RingNetDevice::GetDrops(DropReason reason) const
{
    return m_rxDrops.Get(reason) + m_txDrops.Get(reason) +
           (reason == RX_QUEUE_FULL ? m_burst.GetReaderDrops() : 0);
}

uint64_t
RingNetDevice::GetTotalDrops() const
{
    return m_rxDrops.GetTotal() - m_rxDrops.Get(RX_NOT_FOR_ME) + m_txDrops.GetTotal() +
           m_burst.GetReaderDrops();
}

const char*
RingNetDevice::GetDropReasonName(DropReason reason)
{
    static constexpr std::array<const char*, N_DROP_REASONS> NAMES{"rx_runt",
                                                                   "rx_too_long",
                                                                   "rx_malformed",
                                                                   "rx_ip_options",
                                                                   "rx_super_frame",
                                                                   "rx_not_for_me",
                                                                   "rx_link_down",
                                                                   "rx_queue_full",
                                                                   "tx_link_down",
                                                                   "tx_too_long",
                                                                   "tx_queue_full"};
    return NAMES.at(reason);
}

// ---------------------------------------------------------------- NetDevice

void
RingNetDevice::SetLinkUp(bool up)
{
    NS_LOG_FUNCTION(this << up);
    if (std::exchange(m_linkUp, up) != up)
    {
        NotifyLinkChange();
    }
}

bool
RingNetDevice::SetMtu(const uint16_t mtu)
{
    EthernetNetDevice::SetMtu(mtu);
    if (m_ringAllocated)
    {
        AllocateRing();
    }
    return true;
}

void
RingNetDevice::SetNode(Ptr<Node> node)
{
    NS_LOG_FUNCTION(this << node);
    EthernetNetDevice::SetNode(node);
    if (GetAddress() == Mac48Address("00:00:00:00:00:00"))
    {
        SetAddress(Mac48Address::Allocate());
    }
    if (m_flowControl && !m_queueInterface)
    {
        m_queueInterface = CreateObject<NetDeviceQueueInterface>();
        AggregateObject(m_queueInterface);
        m_burst.TrackFlight();
    }
}

} // namespace ns3
