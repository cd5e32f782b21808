/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/path/path-net-device.h"

#include "ns3/path/path-channel.h"

#include "ns3/ethernet-header.h"
#include "ns3/guard/frame-check.h"
#include "ns3/log.h"

#include <vector>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("PathNetDevice");

NS_OBJECT_ENSURE_REGISTERED(PathNetDevice);

TypeId
PathNetDevice::GetTypeId()
{
    static TypeId tid =
        AddAttributes(TypeId("ns3::PathNetDevice")
                          .SetParent<EthernetNetDevice>()
                          .SetGroupName("Viaduct")
                          .AddConstructor<PathNetDevice>())
            .AddTraceSource("MacTxDrop",
                            "A packet was not sent. Arguments: the packet without its Ethernet "
                            "header, the reason.",
                            MakeTraceSourceAccessor(&PathNetDevice::m_txDrops),
                            "ns3::PathNetDevice::DropTracedCallback")
            .AddTraceSource("MacRxDrop",
                            "A received frame was dropped. Arguments: the frame, the reason.",
                            MakeTraceSourceAccessor(&PathNetDevice::m_rxDrops),
                            "ns3::PathNetDevice::DropTracedCallback");
    return tid;
}

void
PathNetDevice::DoDispose()
{
    m_channel = nullptr;
    EthernetNetDevice::DoDispose();
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
    NotifyLinkChange();
}

uint64_t
PathNetDevice::GetDrops(DropReason reason) const
{
    return m_rxDrops.Get(reason) + m_txDrops.Get(reason);
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
        m_txDrops.Drop(packet, TX_LINK_DOWN);
        return false;
    }
    if (packet->GetSize() > LongestPayload(EthernetNetDevice::GetMtu(), protocolNumber))
    {
        m_txDrops.Drop(packet, TX_TOO_LONG);
        return false;
    }
    EthernetHeader header(false);
    header.SetSource(Mac48Address::ConvertFrom(source));
    header.SetDestination(Mac48Address::ConvertFrom(dest));
    header.SetLengthType(protocolNumber);
    packet->AddHeader(header);
    TraceSent(packet);
    m_channel->Send(m_place, packet);
    return true;
}

void
PathNetDevice::Receive(Ptr<Packet> frame, bool corrupted)
{
    NS_LOG_FUNCTION(this << frame << corrupted);
    if (!GetNode())
    {
        return; // the device is disposed
    }
    Ptr<Packet> packet = frame->Copy();
    EthernetHeader header(false);
    packet->RemoveHeader(header);
    if (!IsLinkUp())
    {
        // On a shared channel, only the devices to which the frame is addressed report the drop.
        if (m_channel->GetNDevices() == 2 || header.GetDestination() == GetAddress() ||
            header.GetDestination().IsGroup())
        {
            m_rxDrops.Drop(frame, RX_LINK_DOWN);
        }
        return;
    }
    const uint16_t protocol = header.GetLengthType();
    TraceReceived(frame);
    const DropReason reason = corrupted ? CheckCorrupted(protocol, packet) : N_DROP_REASONS;
    if (reason != N_DROP_REASONS)
    {
        m_rxDrops.Drop(frame, reason);
        return;
    }
    PassUp({frame, packet, protocol, header.GetSource(), header.GetDestination()});
}

PathNetDevice::DropReason
PathNetDevice::CheckCorrupted(uint16_t protocol, Ptr<const Packet> payload)
{
    if (!Node::ChecksumEnabled())
    {
        return RX_CORRUPTED;
    }
    std::vector<std::byte> bytes(payload->GetSize());
    payload->CopyData(reinterpret_cast<uint8_t*>(bytes.data()), bytes.size());
    const bool sound = IsParsable(protocol, bytes) && !HasIpv4Options(protocol, bytes);
    return sound ? N_DROP_REASONS : RX_MALFORMED;
}

Ptr<Channel>
PathNetDevice::GetChannel() const
{
    return m_channel;
}

bool
PathNetDevice::IsLinkUp() const
{
    return m_channel && m_channel->IsLinkUp();
}

} // namespace ns3
