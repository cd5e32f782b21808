/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ring-net-device.h"

#include "frame-check.h"
#include "interface-port.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/channel.h"
#include "ns3/log.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cstring>
#include <numeric>

/**
 * @file
 * @ingroup viaduct
 * ns3::RingNetDevice implementation.
 */

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RingNetDevice");

NS_OBJECT_ENSURE_REGISTERED(RingNetDevice);

namespace
{

constexpr uint32_t ETHERNET_HEADER = 14;    //!< IEEE 802.3: two addresses and length or type
constexpr uint32_t LLC_SNAP_HEADER = 8;     //!< IEEE 802.2 LLC and SNAP
constexpr uint32_t VLAN_TAG = 4;            //!< IEEE 802.1Q
constexpr uint16_t ETHERTYPE_VLAN = 0x8100; //!< of a tagged frame
constexpr uint16_t MAXIMUM_LENGTH = 1500;   //!< up to here length, above type
constexpr uint32_t SLOT_ALIGNMENT = 64;     //!< a cache line
/// LLC of SNAP and the organisation code of an EtherType (RFC 1042).
constexpr std::array<uint8_t, 6> SNAP_ETHERTYPE{0xaa, 0xaa, 0x03, 0, 0, 0};

} // namespace

TypeId
RingNetDevice::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RingNetDevice")
            .SetParent<NetDevice>()
            .SetGroupName("Viaduct")
            .AddConstructor<RingNetDevice>()
            .AddAttribute("Address",
                          "The MAC address; one is drawn if it is all zero.",
                          Mac48AddressValue(Mac48Address("00:00:00:00:00:00")),
                          MakeMac48AddressAccessor(&RingNetDevice::m_address),
                          MakeMac48AddressChecker())
            .AddAttribute("Mtu",
                          "The longest payload of a frame, bytes.",
                          UintegerValue(1500),
                          MakeUintegerAccessor(&RingNetDevice::SetMtu, &RingNetDevice::GetMtu),
                          MakeUintegerChecker<uint16_t>(68))
            .AddAttribute("BurstSize",
                          "How many frames are taken from the port at once.",
                          UintegerValue(64),
                          MakeUintegerAccessor(&RingNetDevice::m_burstSize),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("TxQueueSize",
                          "How many frames may wait for the port to take them.",
                          UintegerValue(256),
                          MakeUintegerAccessor(&RingNetDevice::m_txQueueSize),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("NeedsArp",
                          "Whether next hops must be resolved; false on control ports, where the "
                          "kernel does it.",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RingNetDevice::m_needsArp),
                          MakeBooleanChecker())
            .AddAttribute("FlowControl",
                          "Aggregate a NetDeviceQueueInterface, so that queue discs can be "
                          "installed. Costs time for every frame.",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RingNetDevice::m_flowControl),
                          MakeBooleanChecker())
            .AddAttribute("Interface",
                          "The interface to open (as root) if the device was given no port.",
                          StringValue(""),
                          MakeStringAccessor(&RingNetDevice::m_interface),
                          MakeStringChecker())
            .AddAttribute("Namespace",
                          "The network namespace, name or path, that Interface is in; empty for "
                          "the process's own.",
                          StringValue(""),
                          MakeStringAccessor(&RingNetDevice::m_namespace),
                          MakeStringChecker())
            .AddAttribute("Filter",
                          "What to receive from Interface, in tcpdump's syntax; empty for all.",
                          StringValue(""),
                          MakeStringAccessor(&RingNetDevice::m_filter),
                          MakeStringChecker())
            .AddTraceSource("MacTx",
                            "A frame was queued for the port.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_macTxTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacTxDrop",
                            "A packet was not sent: packet without Ethernet header, reason.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_macTxDropTrace),
                            "ns3::RingNetDevice::DropTracedCallback")
            .AddTraceSource("MacPromiscRx",
                            "A frame was received, for whomever.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_macPromiscRxTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacRx",
                            "A frame was received for this device, broadcast or multicast.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_macRxTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacRxDrop",
                            "A received frame was dropped: frame, reason.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_macRxDropTrace),
                            "ns3::RingNetDevice::DropTracedCallback")
            .AddTraceSource("Sniffer",
                            "Frames of this device, as a packet sniffer sees them.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_snifferTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PromiscSniffer",
                            "All frames, as a promiscuous packet sniffer sees them.",
                            MakeTraceSourceAccessor(&RingNetDevice::m_promiscSnifferTrace),
                            "ns3::Packet::TracedCallback");
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
    NS_ABORT_MSG_IF(!m_node, "RingNetDevice: add the device to a node first");
    if (!m_burst.GetPort() && !m_interface.empty())
    {
        OpenInterface();
    }
    AllocateRing();
    m_burst.Start(m_node->GetId());
    SetLinkUp(m_burst.GetPort() != nullptr && (!m_opened || m_opened->running));
    NetDevice::DoInitialize();
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
    m_node = nullptr;
    m_queueInterface = nullptr;
    m_rxCallback.Nullify();
    m_promiscRxCallback.Nullify();
    NetDevice::DoDispose();
}

void
RingNetDevice::OpenInterface()
{
    NS_LOG_FUNCTION(this << m_interface << m_namespace << m_filter);
    m_opened =
        std::make_unique<InterfacePort>(OpenInterfacePort(m_namespace, m_interface, m_filter));
    NS_ABORT_MSG_IF(m_opened->mtu < m_mtu,
                    "RingNetDevice: " << m_interface << " carries " << m_opened->mtu
                                      << " bytes only: set the attribute Mtu to that or less");
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

viaduct::io::AnyPort*
RingNetDevice::GetPort() const
{
    return m_burst.GetPort();
}

void
RingNetDevice::AllocateRing()
{
    const uint32_t frame = m_mtu + ETHERNET_HEADER + VLAN_TAG;
    BurstPort::Sizes sizes;
    sizes.burst = m_burstSize;
    sizes.queue = m_txQueueSize;
    sizes.frame = (frame + SLOT_ALIGNMENT - 1) / SLOT_ALIGNMENT * SLOT_ALIGNMENT;
    m_drops[TX_QUEUE_FULL] += m_burst.SetSizes(sizes);
    m_ringAllocated = true;
}

// ---------------------------------------------------------------- received

void
RingNetDevice::HandleFrame(const viaduct::io::ReceivedFrame& frame)
{
    const auto receive = [this](std::span<std::byte> bytes) {
        Receive(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    };
    if (!m_splitter.Split(frame, receive))
    {
        DropReceived(reinterpret_cast<const uint8_t*>(frame.bytes.data()),
                     frame.bytes.size(),
                     RX_SUPER_FRAME);
    }
}

void
RingNetDevice::Receive(const uint8_t* bytes, uint32_t length)
{
    if (!m_linkUp)
    {
        return DropReceived(bytes, length, RX_LINK_DOWN);
    }
    if (length < ETHERNET_HEADER)
    {
        return DropReceived(bytes, length, RX_RUNT);
    }
    uint32_t header = ETHERNET_HEADER;
    uint32_t payload = length - header;
    uint16_t protocol = bytes[12] << 8 | bytes[13];
    if (payload > m_mtu + (protocol == ETHERTYPE_VLAN ? VLAN_TAG : 0))
    {
        return DropReceived(bytes, length, RX_TOO_LONG);
    }
    if (protocol <= MAXIMUM_LENGTH)
    {
        if (protocol > payload)
        {
            return DropReceived(bytes, length, RX_RUNT);
        }
        payload = protocol;
        if (payload >= LLC_SNAP_HEADER &&
            std::memcmp(bytes + header, SNAP_ETHERTYPE.data(), SNAP_ETHERTYPE.size()) == 0)
        {
            protocol = bytes[header + 6] << 8 | bytes[header + 7];
            header += LLC_SNAP_HEADER;
            payload -= LLC_SNAP_HEADER;
        }
    }
    if (!IsParsable(protocol, bytes + header, payload))
    {
        return DropReceived(bytes, length, RX_MALFORMED);
    }
    if (HasIpv4Options(protocol, bytes + header))
    {
        return DropReceived(bytes, length, RX_IP_OPTIONS);
    }
    PassUp(bytes, header, payload, protocol);
}

NetDevice::PacketType
RingNetDevice::Classify(const Mac48Address& destination) const
{
    if (destination == m_address)
    {
        return NS3_PACKET_HOST;
    }
    if (destination.IsBroadcast())
    {
        return NS3_PACKET_BROADCAST;
    }
    return destination.IsGroup() ? NS3_PACKET_MULTICAST : NS3_PACKET_OTHERHOST;
}

void
RingNetDevice::PassUp(const uint8_t* bytes,
                      uint32_t headerLength,
                      uint32_t payloadLength,
                      uint16_t protocol)
{
    Mac48Address destination;
    Mac48Address source;
    destination.CopyFrom(bytes);
    source.CopyFrom(bytes + 6);
    const PacketType type = Classify(destination);
    const bool forMe = type != NS3_PACKET_OTHERHOST;
    if (!forMe && m_promiscRxCallback.IsNull() && m_promiscSnifferTrace.IsEmpty())
    {
        return DropReceived(bytes, headerLength + payloadLength, RX_NOT_FOR_ME);
    }
    if (!m_promiscSnifferTrace.IsEmpty() || !m_snifferTrace.IsEmpty() || !m_macRxTrace.IsEmpty() ||
        !m_macPromiscRxTrace.IsEmpty())
    {
        Ptr<const Packet> whole = Create<Packet>(bytes, headerLength + payloadLength);
        m_promiscSnifferTrace(whole);
        m_macPromiscRxTrace(whole);
        if (forMe)
        {
            m_snifferTrace(whole);
            m_macRxTrace(whole);
        }
    }
    Ptr<Packet> packet = Create<Packet>(bytes + headerLength, payloadLength);
    const Address from = source;
    if (!m_promiscRxCallback.IsNull())
    {
        m_promiscRxCallback(this, packet, protocol, from, destination, type);
    }
    if (forMe && !m_rxCallback.IsNull())
    {
        m_rxCallback(this, packet, protocol, from);
    }
}

void
RingNetDevice::DropReceived(const uint8_t* bytes, uint32_t length, DropReason reason)
{
    m_drops[reason]++;
    if (!m_macRxDropTrace.IsEmpty())
    {
        m_macRxDropTrace(Create<Packet>(bytes, length), reason);
    }
}

// ---------------------------------------------------------------- sent

bool
RingNetDevice::Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber)
{
    return SendFrom(packet, m_address, dest, protocolNumber);
}

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
    if (payload > m_mtu + (protocolNumber == ETHERTYPE_VLAN ? VLAN_TAG : 0))
    {
        return DropSent(packet, TX_TOO_LONG);
    }
    uint8_t* bytes = m_burst.Reserve();
    if (bytes == nullptr)
    {
        if (m_queueInterface)
        {
            m_queueInterface->GetTxQueue(0)->Stop();
        }
        return DropSent(packet, TX_QUEUE_FULL);
    }
    Mac48Address::ConvertFrom(dest).CopyTo(bytes);
    Mac48Address::ConvertFrom(source).CopyTo(bytes + 6);
    bytes[12] = protocolNumber >> 8;
    bytes[13] = protocolNumber & 0xff;
    packet->CopyData(bytes + ETHERNET_HEADER, payload);
    TraceSent(bytes, ETHERNET_HEADER + payload);
    m_burst.Commit(ETHERNET_HEADER + payload);
    return true;
}

void
RingNetDevice::TraceSent(const uint8_t* bytes, uint32_t length)
{
    if (m_macTxTrace.IsEmpty() && m_snifferTrace.IsEmpty() && m_promiscSnifferTrace.IsEmpty())
    {
        return;
    }
    Ptr<const Packet> whole = Create<Packet>(bytes, length);
    m_macTxTrace(whole);
    m_promiscSnifferTrace(whole);
    m_snifferTrace(whole);
}

bool
RingNetDevice::DropSent(Ptr<const Packet> packet, DropReason reason)
{
    NS_LOG_LOGIC("drop: " << GetDropReasonName(reason));
    m_drops[reason]++;
    m_macTxDropTrace(packet, reason);
    return false;
}

void
RingNetDevice::HandleRoom()
{
    if (m_queueInterface && m_queueInterface->GetTxQueue(0)->IsStopped())
    {
        m_queueInterface->GetTxQueue(0)->Wake();
    }
}

uint64_t
RingNetDevice::GetDrops(DropReason reason) const
{
    return m_drops[reason] + (reason == RX_QUEUE_FULL ? m_burst.GetReaderDrops() : 0);
}

uint64_t
RingNetDevice::GetTotalDrops() const
{
    const uint64_t all = std::accumulate(m_drops.begin(), m_drops.end(), uint64_t{0});
    return all - m_drops[RX_NOT_FOR_ME] + m_burst.GetReaderDrops();
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
        m_linkChangeCallbacks();
    }
}

void
RingNetDevice::SetIfIndex(const uint32_t index)
{
    m_ifIndex = index;
}

uint32_t
RingNetDevice::GetIfIndex() const
{
    return m_ifIndex;
}

Ptr<Channel>
RingNetDevice::GetChannel() const
{
    return nullptr;
}

void
RingNetDevice::SetAddress(Address address)
{
    m_address = Mac48Address::ConvertFrom(address);
}

Address
RingNetDevice::GetAddress() const
{
    return m_address;
}

bool
RingNetDevice::SetMtu(const uint16_t mtu)
{
    m_mtu = mtu;
    if (m_ringAllocated)
    {
        AllocateRing();
    }
    return true;
}

uint16_t
RingNetDevice::GetMtu() const
{
    return m_mtu;
}

bool
RingNetDevice::IsLinkUp() const
{
    return m_linkUp;
}

void
RingNetDevice::AddLinkChangeCallback(Callback<void> callback)
{
    m_linkChangeCallbacks.ConnectWithoutContext(callback);
}

bool
RingNetDevice::IsBroadcast() const
{
    return true;
}

Address
RingNetDevice::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool
RingNetDevice::IsMulticast() const
{
    return true;
}

Address
RingNetDevice::GetMulticast(Ipv4Address multicastGroup) const
{
    return Mac48Address::GetMulticast(multicastGroup);
}

Address
RingNetDevice::GetMulticast(Ipv6Address addr) const
{
    return Mac48Address::GetMulticast(addr);
}

bool
RingNetDevice::IsBridge() const
{
    return false;
}

bool
RingNetDevice::IsPointToPoint() const
{
    return false;
}

Ptr<Node>
RingNetDevice::GetNode() const
{
    return m_node;
}

void
RingNetDevice::SetNode(Ptr<Node> node)
{
    NS_LOG_FUNCTION(this << node);
    m_node = node;
    if (m_address == Mac48Address("00:00:00:00:00:00"))
    {
        m_address = Mac48Address::Allocate();
    }
    if (m_flowControl && !m_queueInterface)
    {
        m_queueInterface = CreateObject<NetDeviceQueueInterface>();
        AggregateObject(m_queueInterface);
    }
}

bool
RingNetDevice::NeedsArp() const
{
    return m_needsArp;
}

void
RingNetDevice::SetReceiveCallback(NetDevice::ReceiveCallback cb)
{
    m_rxCallback = cb;
}

void
RingNetDevice::SetPromiscReceiveCallback(NetDevice::PromiscReceiveCallback cb)
{
    m_promiscRxCallback = cb;
}

bool
RingNetDevice::SupportsSendFrom() const
{
    return true;
}

} // namespace ns3
