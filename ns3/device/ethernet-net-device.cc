/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/device/ethernet-net-device.h"

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
                            "A frame was received whose destination is this device's address, or a "
                            "broadcast or multicast address.",
                            MakeTraceSourceAccessor(&EthernetNetDevice::m_macRxTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Sniffer",
                            "The frames that a packet sniffer without promiscuous mode sees at "
                            "this device.",
                            MakeTraceSourceAccessor(&EthernetNetDevice::m_snifferTrace),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("PromiscSniffer",
                            "The frames that a packet sniffer in promiscuous mode sees at this "
                            "device.",
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
            "The device's MAC address. All zeros: an address is allocated, for a RingNetDevice "
            "when the device is added to a node, for a PathNetDevice by PathHelper.",
            Mac48AddressValue(Mac48Address("00:00:00:00:00:00")),
            MakeMac48AddressAccessor(&EthernetNetDevice::m_address),
            MakeMac48AddressChecker())
        .AddAttribute("Mtu",
                      "The maximum payload of a frame, in bytes.",
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

// ---------------------------------------------------------------- functions of NetDevice

Ptr<Channel>
EthernetNetDevice::GetChannel() const
{
    return nullptr;
}

bool
EthernetNetDevice::SetMtu(const uint16_t mtu)
{
    m_mtu = mtu;
    return true;
}

} // namespace ns3
