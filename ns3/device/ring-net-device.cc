/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/device/ring-net-device.h"

#include "ns3/base/wire-conversion.h"
#include "ns3/device/interface-port.h"
#include "ns3/guard/frame-check.h"
#include "ns3/guard/transport-guard.h"
#include "ns3/payload/payload-restorer.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/queue-limits.h"
#include "ns3/simulator.h"

#include "base/wire/ethernet.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <sys/epoll.h>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RingNetDevice");

namespace
{

namespace wire = viaduct::wire;

constexpr uint32_t LLC_SNAP_HEADER = 8;   //!< bytes of the IEEE 802.2 LLC and SNAP headers
constexpr uint16_t MAXIMUM_LENGTH = 1500; //!< largest type field that is a length (IEEE 802.3)
constexpr uint32_t SLOT_ALIGNMENT = 64;   //!< alignment of the ring's slots: a cache line, bytes
/// The LLC header of SNAP, and the SNAP organisation code that precedes an EtherType (RFC 1042).
constexpr std::array<uint8_t, 6> SNAP_ETHERTYPE{0xaa, 0xaa, 0x03, 0, 0, 0};

/** The payload of an 802.3 frame. */
struct LlcPayload
{
    uint16_t protocol;               //!< EtherType if there is a SNAP header, else the length
    std::span<const std::byte> rest; //!< the bytes after the headers, without padding
};

/** @return the payload of an 802.3 frame; @p length is the value of the frame's length field, at
 * most the size of @p payload */
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

/** @return a packet that contains @p bytes */
Ptr<Packet>
MakePacket(std::span<const std::byte> bytes)
{
    return Create<Packet>(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

} // namespace

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
    NS_ABORT_MSG_IF(!GetNode(),
                    "RingNetDevice: the device has no node; add the device to a node "
                    "first");
    if (!m_burst.GetPort() && !m_interface.empty())
    {
        OpenInterface();
    }
    AllocateRing();
    if (m_headerBytes > 0)
    {
        m_held = std::make_unique<HeldPayloads>(m_heldPayloads, m_burst.GetFrameSize());
        RestorePayloadsWhereRead();
    }
    m_burst.Start(GetNode()->GetId(), m_stamps == InterfaceStamps::USER);
    SetLinkUp(m_burst.GetPort() != nullptr && (!m_opened || m_opened->running));
    if (m_opened)
    {
        // TransportGuard checks packets of unknown senders
        TransportGuard::InstallUnlessGuarded(GetNode());
    }
    EthernetNetDevice::DoInitialize();
}

void
RingNetDevice::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_departures.Clear();
    m_burst.Stop();
    m_burst.Discard();
    m_burst.SetPort(nullptr);
    if (Ptr<ReactorSimulatorImpl> reactor = m_opened ? ReactorSimulatorImpl::Get() : nullptr)
    {
        reactor->RemovePollable(m_monitor);
        reactor->RemovePollable(m_departed);
    }
    m_opened = nullptr;
    HeldPayloads::Retire(std::move(m_held));
    m_queueInterface = nullptr;
    m_limits = nullptr;
    EthernetNetDevice::DoDispose();
}

void
RingNetDevice::OpenInterface()
{
    NS_LOG_FUNCTION(this << m_interface << m_namespace << m_filter);
    m_opened = std::make_unique<InterfacePort>(OpenInterfacePort({.networkNamespace = m_namespace,
                                                                  .interface = m_interface,
                                                                  .mtu = GetMtu(),
                                                                  .filter = m_filter,
                                                                  .qdiscBypass = m_qdiscBypass,
                                                                  .kind = m_portKind,
                                                                  .queues = m_queues,
                                                                  .blocks = m_ringBlocks}));
    m_burst.SetPort(std::move(m_opened->port));
    if (Ptr<ReactorSimulatorImpl> reactor = ReactorSimulatorImpl::Get())
    {
        m_monitor = reactor->AddPollable(m_opened->monitor->fd(),
                                         Callback<bool>([this] { return ReadLinkEvents(); }));
        if (m_opened->timed)
        {
            m_departed = reactor->AddPollable(m_opened->timed->fd(),
                                              Callback<bool>([this] { return ReadDepartures(); }),
                                              EPOLLERR);
        }
    }
    else
    {
        m_opened->timed = nullptr; // a qdisc needs times of the reactor's clock, the kernel's
    }
}

bool
RingNetDevice::ReadLinkEvents()
{
    bool lost = false;
    const auto events = m_opened->monitor->Read(&lost);
    for (const auto& event : events)
    {
        if (event.ifindex == m_opened->ifindex)
        {
            SetLinkUp(event.up && event.carrier && !event.removed);
        }
    }
    if (lost)
    {
        m_opened->monitor->RequestAll();
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

// ---------------------------------------------------------------- received frames

void
RingNetDevice::HandleFrame(const viaduct::io::ReceivedFrame& frame)
{
    // The frames split from a super-frame are valid only during the call of Receive().
    const bool lasting = frame.gso_size == 0;
    if (!m_splitter.Split(frame, [&](std::span<std::byte> bytes) { Receive(bytes, lasting); }))
    {
        DropReceived(frame.bytes, RX_SUPER_FRAME);
    }
}

void
RingNetDevice::HandleReturn()
{
    if (m_held)
    {
        m_held->Settle();
    }
}

Ptr<Packet>
RingNetDevice::MakePayload(std::span<const std::byte> frame,
                           std::span<const std::byte> payload,
                           uint16_t protocol,
                           bool lasting)
{
    if (m_held && IsIp(protocol))
    {
        RestorePayloadsWhereRead(); // for nodes added since the previous call
        const auto before = static_cast<uint32_t>(payload.data() - frame.data());
        if (Ptr<Packet> packet = m_held->Hold({payload, before, lasting}, m_headerBytes))
        {
            return packet;
        }
    }
    return MakePacket(payload);
}

void
RingNetDevice::Receive(std::span<const std::byte> frame, bool lasting)
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
    if (!IsPromiscuous() && Classify(destination) == NS3_PACKET_OTHERHOST)
    {
        return DropReceived(unpadded, RX_NOT_FOR_ME);
    }
    const Ptr<const Packet> whole = IsReceptionTraced() ? MakePacket(unpadded) : nullptr;
    if (whole)
    {
        TraceReceived(whole);
    }
    PassUp({whole,
            MakePayload(frame, payload.rest, payload.protocol, lasting),
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

// ---------------------------------------------------------------- sent frames

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
    if (DepartureTag tag; packet->PeekPacketTag(tag) && tag.GetTime() > Simulator::Now())
    {
        return SendLater(packet, source, dest, protocolNumber, tag.GetTime());
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
    HeldPayload* const held = HeldPayloads::AreInUse() ? FindWholePayload(*packet) : nullptr;
    const std::span<std::byte> content = frame.subspan(wire::EthernetHeader::kSize);
    if (held)
    {
        const auto headers = content.first(payload - held->bytes.size());
        packet->CopyData(reinterpret_cast<uint8_t*>(headers.data()), headers.size());
        if (IsIp(protocolNumber))
        {
            CompleteChecksum(headers, *held);
        }
    }
    else if (!JoinPacket(
                 *packet, content, IsIp(protocolNumber) ? FirstHeader::IP : FirstHeader::OTHER))
    {
        return DropSent(packet, TX_PAYLOAD_LOST);
    }
    if (IsSendingTraced())
    {
        TraceWhole(frame, held);
    }
    if (held)
    {
        m_unjoined.Add(m_burst.CommitUnfinished(frame.size()), held);
    }
    else
    {
        m_burst.Commit(frame.size());
    }
    if (m_queueInterface)
    {
        NotifyQueued(frame.size());
    }
    return true;
}

void
RingNetDevice::TraceWhole(std::span<std::byte> frame, const HeldPayload* held)
{
    if (held)
    {
        const auto end = frame.last(held->bytes.size());
        std::copy(held->bytes.begin(), held->bytes.end(), end.begin());
    }
    TraceSent(MakePacket(frame));
}

viaduct::io::FrameToSend
RingNetDevice::Finish(uint32_t slot, std::span<std::byte> frame)
{
    return m_unjoined.Finish(slot, frame);
}

void
RingNetDevice::HandleOffered(uint32_t slot, bool taken)
{
    m_unjoined.HandleOffered(slot, taken);
}

void
RingNetDevice::HandleLateness(bool sent, viaduct::Duration lateness)
{
    const auto& trace = sent ? m_sentLate : m_receivedLate;
    if (!trace.IsEmpty())
    {
        trace(NanoSeconds(lateness.nanoseconds()));
    }
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
        queue->Stop(); // the ring is full, so the next packet would be dropped
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

// ---------------------------------------------------------------- functions of NetDevice

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
