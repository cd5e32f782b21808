/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "path-net-device.h"

#include "ns3/frame-check.h"
#include "path-channel.h"

#include "ns3/ethernet-header.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <vector>

/**
 * @file
 * @ingroup viaduct
 * ns3::PathNetDevice implementation.
 */

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("PathNetDevice");

NS_OBJECT_ENSURE_REGISTERED(PathNetDevice);

TypeId
PathNetDevice::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::PathNetDevice")
            .SetParent<NetDevice>()
            .SetGroupName("Viaduct")
            .AddConstructor<PathNetDevice>()
            .AddAttribute("Address",
                          "The MAC address; PathHelper draws one.",
                          Mac48AddressValue(Mac48Address("00:00:00:00:00:00")),
                          MakeMac48AddressAccessor(&PathNetDevice::m_address),
                          MakeMac48AddressChecker())
            .AddAttribute("Mtu",
                          "The longest payload of a frame, bytes.",
                          UintegerValue(1500),
                          MakeUintegerAccessor(&PathNetDevice::SetMtu, &PathNetDevice::GetMtu),
                          MakeUintegerChecker<uint16_t>(68))
            .AddTraceSource("MacTx",
                            "A frame was given to the channel.",
                            MakeTraceSourceAccessor(&PathNetDevice::m_macTxTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacTxDrop",
                            "A packet was not sent: packet without Ethernet header, reason.",
                            MakeTraceSourceAccessor(&PathNetDevice::m_macTxDropTrace),
                            "ns3::PathNetDevice::DropTracedCallback")
            .AddTraceSource("MacPromiscRx",
                            "A frame was received, for whomever.",
                            MakeTraceSourceAccessor(&PathNetDevice::m_macPromiscRxTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacRx",
                            "A frame was received for this device, broadcast or multicast.",
                            MakeTraceSourceAccessor(&PathNetDevice::m_macRxTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacRxDrop",
                            "A received frame was dropped: frame, reason.",
                            MakeTraceSourceAccessor(&PathNetDevice::m_macRxDropTrace),
                            "ns3::PathNetDevice::DropTracedCallback")
            .AddTraceSource("Sniffer",
                            "Frames of this device, as a packet sniffer sees them.",
                            MakeTraceSourceAccessor(&PathNetDevice::m_snifferTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PromiscSniffer",
                            "All frames, as a promiscuous packet sniffer sees them.",
                            MakeTraceSourceAccessor(&PathNetDevice::m_promiscSnifferTrace),
                            "ns3::Packet::TracedCallback");
    return tid;
}

PathNetDevice::PathNetDevice() = default;

PathNetDevice::~PathNetDevice() = default;

void
PathNetDevice::DoDispose()
{
    m_node = nullptr;
    m_channel = nullptr;
    m_rxCallback.Nullify();
    m_promiscRxCallback.Nullify();
    NetDevice::DoDispose();
}

void
PathNetDevice::SetChannel(Ptr<PathChannel> channel, std::size_t place)
{
    m_channel = channel;
    m_place = place;
    LinkChanged();
}

void
PathNetDevice::LinkChanged()
{
    m_linkChangeCallbacks();
}

std::size_t
PathNetDevice::GetPlace() const
{
    return m_place;
}

uint64_t
PathNetDevice::GetDrops(DropReason reason) const
{
    return m_drops.at(reason);
}

bool
PathNetDevice::Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber)
{
    return SendFrom(packet, m_address, dest, protocolNumber);
}

bool
PathNetDevice::SendFrom(Ptr<Packet> packet,
                        const Address& source,
                        const Address& dest,
                        uint16_t protocolNumber)
{
    NS_LOG_FUNCTION(this << packet << source << dest << protocolNumber);
    if (!IsLinkUp())
    {
        return DropSent(packet, TX_LINK_DOWN);
    }
    if (packet->GetSize() > m_mtu)
    {
        return DropSent(packet, TX_TOO_LONG);
    }
    EthernetHeader header(false);
    header.SetSource(Mac48Address::ConvertFrom(source));
    header.SetDestination(Mac48Address::ConvertFrom(dest));
    header.SetLengthType(protocolNumber);
    packet->AddHeader(header);
    m_macTxTrace(packet);
    m_snifferTrace(packet);
    m_promiscSnifferTrace(packet);
    m_channel->Send(m_place, packet);
    return true;
}

void
PathNetDevice::Receive(Ptr<Packet> frame, bool corrupted)
{
    NS_LOG_FUNCTION(this << frame << corrupted);
    if (!m_node)
    {
        return; // disposed
    }
    Ptr<Packet> packet = frame->Copy();
    EthernetHeader header(false);
    packet->RemoveHeader(header);
    const uint16_t protocol = header.GetLengthType();
    const PacketType type = Classify(header.GetDestination());
    m_promiscSnifferTrace(frame);
    m_macPromiscRxTrace(frame);
    if (corrupted)
    {
        const DropReason reason = CheckCorrupted(protocol, packet);
        if (reason != N_DROP_REASONS)
        {
            DropReceived(frame, reason);
            return;
        }
    }
    if (!m_promiscRxCallback.IsNull())
    {
        m_promiscRxCallback(
            this, packet->Copy(), protocol, header.GetSource(), header.GetDestination(), type);
    }
    if (type == PACKET_OTHERHOST)
    {
        return;
    }
    m_snifferTrace(frame);
    m_macRxTrace(frame);
    if (!m_rxCallback.IsNull())
    {
        m_rxCallback(this, packet, protocol, header.GetSource());
    }
}

PathNetDevice::DropReason
PathNetDevice::CheckCorrupted(uint16_t protocol, Ptr<const Packet> payload)
{
    if (!Node::ChecksumEnabled())
    {
        return RX_CORRUPTED;
    }
    std::vector<uint8_t> bytes(payload->GetSize());
    payload->CopyData(bytes.data(), bytes.size());
    const uint32_t length = payload->GetSize();
    const bool sound =
        IsParsable(protocol, bytes.data(), length) && !HasIpv4Options(protocol, bytes.data());
    return sound ? N_DROP_REASONS : RX_MALFORMED;
}

NetDevice::PacketType
PathNetDevice::Classify(const Mac48Address& destination) const
{
    if (destination == m_address)
    {
        return PACKET_HOST;
    }
    if (destination.IsBroadcast())
    {
        return PACKET_BROADCAST;
    }
    return destination.IsGroup() ? PACKET_MULTICAST : PACKET_OTHERHOST;
}

void
PathNetDevice::DropReceived(Ptr<const Packet> frame, DropReason reason)
{
    m_drops[reason]++;
    m_macRxDropTrace(frame, reason);
}

bool
PathNetDevice::DropSent(Ptr<const Packet> packet, DropReason reason)
{
    m_drops[reason]++;
    m_macTxDropTrace(packet, reason);
    return false;
}

void
PathNetDevice::SetIfIndex(const uint32_t index)
{
    m_ifIndex = index;
}

uint32_t
PathNetDevice::GetIfIndex() const
{
    return m_ifIndex;
}

Ptr<Channel>
PathNetDevice::GetChannel() const
{
    return m_channel;
}

void
PathNetDevice::SetAddress(Address address)
{
    m_address = Mac48Address::ConvertFrom(address);
}

Address
PathNetDevice::GetAddress() const
{
    return m_address;
}

bool
PathNetDevice::SetMtu(const uint16_t mtu)
{
    m_mtu = mtu;
    return true;
}

uint16_t
PathNetDevice::GetMtu() const
{
    return m_mtu;
}

bool
PathNetDevice::IsLinkUp() const
{
    return m_channel && m_channel->IsLinkUp();
}

void
PathNetDevice::AddLinkChangeCallback(Callback<void> callback)
{
    m_linkChangeCallbacks.ConnectWithoutContext(callback);
}

bool
PathNetDevice::IsBroadcast() const
{
    return true;
}

Address
PathNetDevice::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool
PathNetDevice::IsMulticast() const
{
    return true;
}

Address
PathNetDevice::GetMulticast(Ipv4Address multicastGroup) const
{
    return Mac48Address::GetMulticast(multicastGroup);
}

Address
PathNetDevice::GetMulticast(Ipv6Address addr) const
{
    return Mac48Address::GetMulticast(addr);
}

bool
PathNetDevice::IsBridge() const
{
    return false;
}

bool
PathNetDevice::IsPointToPoint() const
{
    return false;
}

Ptr<Node>
PathNetDevice::GetNode() const
{
    return m_node;
}

void
PathNetDevice::SetNode(Ptr<Node> node)
{
    m_node = node;
}

bool
PathNetDevice::NeedsArp() const
{
    return true;
}

void
PathNetDevice::SetReceiveCallback(NetDevice::ReceiveCallback cb)
{
    m_rxCallback = cb;
}

void
PathNetDevice::SetPromiscReceiveCallback(NetDevice::PromiscReceiveCallback cb)
{
    m_promiscRxCallback = cb;
}

bool
PathNetDevice::SupportsSendFrom() const
{
    return true;
}

} // namespace ns3
