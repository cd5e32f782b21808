/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ethernet-net-device.h"

#include "ns3/channel.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(EthernetNetDevice);

TypeId
EthernetNetDevice::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::EthernetNetDevice")
            .SetParent<NetDevice>()
            .SetGroupName("Viaduct")
            .AddTraceSource("MacTx",
                            "A frame was passed to the port or channel.",
                            MakeTraceSourceAccessor(&EthernetNetDevice::m_macTxTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacPromiscRx",
                            "A frame was received, whatever its destination.",
                            MakeTraceSourceAccessor(&EthernetNetDevice::m_macPromiscRxTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("MacRx",
                            "A frame was received for this device, broadcast or multicast.",
                            MakeTraceSourceAccessor(&EthernetNetDevice::m_macRxTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Sniffer",
                            "Frames of this device, as a packet sniffer sees them.",
                            MakeTraceSourceAccessor(&EthernetNetDevice::m_snifferTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PromiscSniffer",
                            "All frames, as a promiscuous packet sniffer sees them.",
                            MakeTraceSourceAccessor(&EthernetNetDevice::m_promiscSnifferTrace),
                            "ns3::Packet::TracedCallback");
    return tid;
}

TypeId
EthernetNetDevice::AddAttributes(TypeId tid)
{
    return tid
        .AddAttribute(
            "Address",
            "The MAC address; if it is all zero, one is allocated, by RingNetDevice when it "
            "joins a node and by PathHelper.",
            Mac48AddressValue(Mac48Address("00:00:00:00:00:00")),
            MakeMac48AddressAccessor(&EthernetNetDevice::m_address),
            MakeMac48AddressChecker())
        .AddAttribute("Mtu",
                      "The longest payload of a frame, bytes.",
                      UintegerValue(1500),
                      MakeUintegerAccessor(&EthernetNetDevice::SetMtu, &EthernetNetDevice::GetMtu),
                      MakeUintegerChecker<uint16_t>(68));
}

void
EthernetNetDevice::DoDispose()
{
    m_node = nullptr;
    m_rxCallback.Nullify();
    m_promiscRxCallback.Nullify();
    NetDevice::DoDispose();
}

void
EthernetNetDevice::NotifyLinkChange()
{
    m_linkChangeCallbacks();
}

bool
EthernetNetDevice::IsReceptionTraced() const
{
    return !m_promiscSnifferTrace.IsEmpty() || !m_snifferTrace.IsEmpty() ||
           !m_macRxTrace.IsEmpty() || !m_macPromiscRxTrace.IsEmpty();
}

bool
EthernetNetDevice::IsSendingTraced() const
{
    return !m_macTxTrace.IsEmpty() || !m_snifferTrace.IsEmpty() || !m_promiscSnifferTrace.IsEmpty();
}

bool
EthernetNetDevice::IsPromiscuous() const
{
    return !m_promiscRxCallback.IsNull() || !m_promiscSnifferTrace.IsEmpty();
}

void
EthernetNetDevice::TraceSent(Ptr<const Packet> frame)
{
    m_macTxTrace(frame);
    m_snifferTrace(frame);
    m_promiscSnifferTrace(frame);
}

void
EthernetNetDevice::TraceReceived(Ptr<const Packet> frame)
{
    m_promiscSnifferTrace(frame);
    m_macPromiscRxTrace(frame);
}

NetDevice::PacketType
EthernetNetDevice::Classify(const Mac48Address& destination) const
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
EthernetNetDevice::PassUp(const Reception& reception)
{
    const PacketType type = Classify(reception.destination);
    const Address source = reception.source;
    if (!m_promiscRxCallback.IsNull())
    {
        m_promiscRxCallback(
            this, reception.payload, reception.protocol, source, reception.destination, type);
    }
    if (type == NS3_PACKET_OTHERHOST)
    {
        return;
    }
    if (reception.frame)
    {
        m_snifferTrace(reception.frame);
        m_macRxTrace(reception.frame);
    }
    if (!m_rxCallback.IsNull())
    {
        m_rxCallback(this, reception.payload, reception.protocol, source);
    }
}

// ---------------------------------------------------------------- NetDevice

void
EthernetNetDevice::SetIfIndex(const uint32_t index)
{
    m_ifIndex = index;
}

uint32_t
EthernetNetDevice::GetIfIndex() const
{
    return m_ifIndex;
}

Ptr<Channel>
EthernetNetDevice::GetChannel() const
{
    return nullptr;
}

void
EthernetNetDevice::SetAddress(Address address)
{
    m_address = Mac48Address::ConvertFrom(address);
}

Address
EthernetNetDevice::GetAddress() const
{
    return m_address;
}

bool
EthernetNetDevice::SetMtu(const uint16_t mtu)
{
    m_mtu = mtu;
    return true;
}

uint16_t
EthernetNetDevice::GetMtu() const
{
    return m_mtu;
}

void
EthernetNetDevice::AddLinkChangeCallback(Callback<void> callback)
{
    m_linkChangeCallbacks.ConnectWithoutContext(callback);
}

bool
EthernetNetDevice::IsBroadcast() const
{
    return true;
}

Address
EthernetNetDevice::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool
EthernetNetDevice::IsMulticast() const
{
    return true;
}

Address
EthernetNetDevice::GetMulticast(Ipv4Address multicastGroup) const
{
    return Mac48Address::GetMulticast(multicastGroup);
}

Address
EthernetNetDevice::GetMulticast(Ipv6Address addr) const
{
    return Mac48Address::GetMulticast(addr);
}

bool
EthernetNetDevice::IsBridge() const
{
    return false;
}

bool
EthernetNetDevice::IsPointToPoint() const
{
    return false;
}

bool
EthernetNetDevice::Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber)
{
    return SendFrom(packet, m_address, dest, protocolNumber);
}

Ptr<Node>
EthernetNetDevice::GetNode() const
{
    return m_node;
}

void
EthernetNetDevice::SetNode(Ptr<Node> node)
{
    m_node = node;
}

bool
EthernetNetDevice::NeedsArp() const
{
    return true;
}

void
EthernetNetDevice::SetReceiveCallback(NetDevice::ReceiveCallback cb)
{
    m_rxCallback = cb;
}

void
EthernetNetDevice::SetPromiscReceiveCallback(NetDevice::PromiscReceiveCallback cb)
{
    m_promiscRxCallback = cb;
}

bool
EthernetNetDevice::SupportsSendFrom() const
{
    return true;
}

} // namespace ns3
