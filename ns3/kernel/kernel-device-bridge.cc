/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/kernel/kernel-device-bridge.h"

#include "ns3/base/wire-conversion.h"
#include "ns3/mac48-address.h"
#include "ns3/payload/held-payloads.h"
#include "ns3/queue-item.h"
#include "ns3/queue-limits.h"
#include "ns3/simulator.h"

#include "base/wire/ethernet.h"

#include <functional>
#include <limits>
#include <utility>

namespace ns3
{

using viaduct::guest::Nic;
namespace wire = viaduct::wire;

NS_OBJECT_ENSURE_REGISTERED(KernelDeviceBridge);

namespace
{

constexpr uint16_t FIRST_ETHERTYPE = 0x600; // lower values are lengths, IEEE 802.3 clause 3.2.6
constexpr uint16_t IPV4 = wire::ether_type::kIpv4;
constexpr uint16_t IPV6 = wire::ether_type::kIpv6;
constexpr uint16_t ARP = wire::ether_type::kArp;

/** Returns the Ethernet destination of a packet from a link that has no Ethernet addresses: the
 * MAC address of the group for a multicast packet, the broadcast address for a broadcast packet,
 * `own` for any other packet. */
Mac48Address
GroupOrOwn(Ptr<const Packet> packet, uint16_t protocol, Mac48Address own)
{
    uint8_t header[40] = {};
    const uint32_t size = packet->CopyData(header, sizeof header);
    if (protocol == IPV4 && size >= 20)
    {
        const uint32_t destination = uint32_t{header[16]} << 24 | uint32_t{header[17]} << 16 |
                                     uint32_t{header[18]} << 8 | header[19];
        const Ipv4Address address(destination);
        return address.IsMulticast()   ? Mac48Address::GetMulticast(address)
               : address.IsBroadcast() ? Mac48Address::GetBroadcast()
                                       : own;
    }
    if (protocol == IPV6 && size >= 40 && header[24] == 0xff)
    {
        return Mac48Address::GetMulticast(Ipv6Address::Deserialize(header + 24));
    }
    return own;
}

/**
 * Returns whether the device never reports the state of its link: ns-3's LTE devices never set the
 * member that their IsLinkUp() returns (ns-3.44 to 3.48).
 */
bool
SaysNothingOfItsLink(Ptr<NetDevice> device)
{
    TypeId lte;
    return TypeId::LookupByNameFailSafe("ns3::LteNetDevice", &lte) &&
           device->GetInstanceTypeId().IsChildOf(lte);
}

/** The queue item that a device with several queues gets to select the queue for a frame. */
class FrameItem : public QueueItem
{
  public:
    /**
     * @param packet a frame's payload
     * @param protocol the frame's EtherType
     */
    FrameItem(Ptr<Packet> packet, uint16_t protocol) : QueueItem(packet), m_protocol(protocol)
    {
    }

    bool GetUint8Value(Uint8Values field, uint8_t& value) const override
    {
        uint8_t start[2];
        if (field != IP_DSFIELD || (m_protocol != IPV4 && m_protocol != IPV6) ||
            GetPacket()->CopyData(start, sizeof start) < sizeof start)
        {
            return false;
        }
        value = m_protocol == IPV4 ? start[1] : static_cast<uint8_t>(start[0] << 4 | start[1] >> 4);
        return true;
    }

  private:
    uint16_t m_protocol; //!< EtherType of the frame
};

/** Reports packets that enter and leave a device's queue, without limiting the queue. */
class QueueWatch : public QueueLimits
{
  public:
    /**
     * @param entered called for each packet that enters
     * @param left called for each packet that leaves, also for a packet that is dropped
     */
    QueueWatch(std::function<void()> entered, std::function<void()> left)
        : m_entered(std::move(entered)), m_left(std::move(left))
    {
    }

    void Reset() override
    {
    }

    void Completed(uint32_t) override
    {
        m_left();
    }

    int32_t Available() const override
    {
        return std::numeric_limits<int32_t>::max();
    }

    void Queued(uint32_t) override
    {
        m_entered();
    }

  private:
    std::function<void()> m_entered; //!< called for entering packets
    std::function<void()> m_left;    //!< called for leaving packets
};

} // namespace

TypeId
KernelDeviceBridge::GetTypeId()
{
    static TypeId tid = TypeId("ns3::KernelDeviceBridge")
                            .SetParent<Object>()
                            .SetGroupName("Viaduct")
                            .AddConstructor<KernelDeviceBridge>();
    return tid;
}

void
KernelDeviceBridge::DoDispose()
{
    m_waiting.clear();
    m_pcap.reset();
    m_mtuChanged = nullptr;
    m_watch = nullptr;
    for (size_t i = 0; m_queues && i < m_queues->GetNTxQueues(); ++i)
    {
        const auto queue = m_queues->GetTxQueue(i);
        queue->SetWakeCallback(NetDeviceQueue::WakeCallback());
        if (DynamicCast<QueueWatch>(queue->GetQueueLimits()))
        {
            queue->SetQueueLimits(nullptr);
        }
    }
    m_queues = nullptr;
    m_device = nullptr;
    m_nic = nullptr;
    Object::DoDispose();
}

void
KernelDeviceBridge::Connect(Ptr<NetDevice> device, Nic& nic)
{
    m_device = device;
    m_nic = &nic;
    nic.SetTransmit(
        [this](std::span<const std::byte> frame, Token token) { Transmit(frame, token); });
    // After this call, ns-3's own stack on this node receives no packets from the device. If the
    // device has link-layer addresses, the promiscuous callback is used, because only this callback
    // receives the frame's destination. A device without addresses may have no promiscuous mode.
    if (device->NeedsArp())
    {
        device->SetReceiveCallback(MakeCallback(&KernelDeviceBridge::Ignore, this));
        device->SetPromiscReceiveCallback(
            MakeCallback(&KernelDeviceBridge::ReceivePromiscuous, this));
    }
    else
    {
        device->SetReceiveCallback(MakeCallback(&KernelDeviceBridge::Receive, this));
    }
    m_tellsEnd = device->TraceConnectWithoutContext("PhyTxEnd",
                                                    MakeCallback(&KernelDeviceBridge::Ended, this));
    if (m_tellsEnd)
    {
        device->TraceConnectWithoutContext("PhyTxDrop",
                                           MakeCallback(&KernelDeviceBridge::Ended, this));
    }
    else
    {
        // The device's queues are connected in a later event: ns-3's traffic control layer, which
        // is not used on this node, would otherwise take over the queues when the layer starts.
        Simulator::ScheduleNow(&KernelDeviceBridge::ConnectQueues, this);
    }
    device->AddLinkChangeCallback(MakeCallback(&KernelDeviceBridge::LinkChanged, this));
    LinkChanged();
}

void
KernelDeviceBridge::WatchMtu(std::function<void(uint16_t)> handler, uint16_t mtu)
{
    m_mtuChanged = std::move(handler);
    m_mtu = mtu;
}

void
KernelDeviceBridge::CheckMtu()
{
    const uint16_t mtu = m_device->GetMtu();
    if (m_mtuChanged && std::exchange(m_mtu, mtu) != mtu)
    {
        m_mtuChanged(mtu);
    }
}

void
KernelDeviceBridge::EnablePcap(const std::string& file)
{
    m_pcap = std::make_unique<viaduct::io::PcapWriter>(file);
}

Mac48Address
KernelDeviceBridge::OwnAddress() const
{
    Mac48Address own;
    own.CopyFrom(m_nic->mac().bytes.data());
    return own;
}

void
KernelDeviceBridge::Capture(std::span<const std::byte> frame)
{
    if (m_pcap)
    {
        m_pcap->Write(viaduct::Instant::FromNanoseconds(Simulator::Now().GetNanoSeconds()), frame);
    }
}

bool
KernelDeviceBridge::IsDown(uint16_t protocol) const
{
    return (!m_ipv4 && (protocol == IPV4 || protocol == ARP)) || (!m_ipv6 && protocol == IPV6);
}

void
KernelDeviceBridge::LinkChanged()
{
    CheckMtu();
    m_nic->SetLink(SaysNothingOfItsLink(m_device) || m_device->IsLinkUp());
}

void
KernelDeviceBridge::Transmit(std::span<const std::byte> frame, Token token)
{
    const auto header = wire::EthernetHeader::Parse(frame);
    if (!header || header->type < FIRST_ETHERTYPE || IsDown(header->type))
    {
        m_nic->TransmitDone(token);
        return;
    }
    if (m_watch)
    {
        m_watch(frame, true);
    }
    Pass(*header, frame, token);
}

void
KernelDeviceBridge::Inject(std::span<const std::byte> frame)
{
    const auto header = wire::EthernetHeader::Parse(frame);
    if (m_nic && header && !IsDown(header->type))
    {
        Pass(*header, frame, std::nullopt);
    }
}

void
KernelDeviceBridge::Return(std::optional<Token> token)
{
    if (token)
    {
        m_nic->TransmitDone(*token);
    }
}

void
KernelDeviceBridge::Pass(const wire::EthernetHeader& header,
                         std::span<const std::byte> frame,
                         std::optional<Token> token)
{
    CheckMtu();
    Capture(frame);
    const auto payload = frame.subspan(wire::EthernetHeader::kSize);
    Waiting waiting{Create<Packet>(reinterpret_cast<const uint8_t*>(payload.data()),
                                   static_cast<uint32_t>(payload.size())),
                    wireconversion::ToMac48(header.source),
                    wireconversion::ToMac48(header.destination),
                    header.type,
                    token};
    if (m_tellsEnd)
    {
        m_waiting.push_back(std::move(waiting));
        SendNext();
    }
    else if (m_queues)
    {
        waiting.queue = ChooseQueue(waiting);
        m_waiting.push_back(std::move(waiting));
        SendWhereRoom();
    }
    else
    {
        Send(waiting);
        Return(token);
    }
}

void
KernelDeviceBridge::ConnectQueues()
{
    m_queues = m_device ? m_device->GetObject<NetDeviceQueueInterface>() : nullptr;
    m_inQueue.resize(m_queues ? m_queues->GetNTxQueues() : 0);
    for (size_t i = 0; i < m_inQueue.size(); ++i)
    {
        const auto queue = m_queues->GetTxQueue(i);
        queue->SetWakeCallback(MakeCallback(&KernelDeviceBridge::SendWhereRoom, this));
        if (!queue->GetQueueLimits())
        {
            queue->SetQueueLimits(
                CreateObject<QueueWatch>([this, i] { Entered(i); }, [this, i] { Left(i); }));
        }
    }
}

void
KernelDeviceBridge::Entered(size_t queue)
{
    m_inQueue[queue].push_back(std::exchange(m_handed, std::nullopt));
}

// Returns the token of the oldest frame in a queue to the kernel. A queue may reorder packets and
// does not report which packet has left; the kernel needs only the number of waiting packets.
void
KernelDeviceBridge::Left(size_t queue)
{
    if (!m_nic || m_inQueue[queue].empty())
    {
        return;
    }
    const auto token = m_inQueue[queue].front();
    m_inQueue[queue].pop_front();
    if (token)
    {
        m_nic->TransmitDone(*token);
    }
}

size_t
KernelDeviceBridge::ChooseQueue(const Waiting& frame) const
{
    const auto choose = m_queues->GetSelectQueueCallback();
    return choose && m_queues->GetNTxQueues() > 1
               ? choose(Create<FrameItem>(frame.packet, frame.protocol))
               : 0;
}

void
KernelDeviceBridge::SendWhereRoom()
{
    std::deque<Waiting> waiting = std::exchange(m_waiting, {});
    for (Waiting& frame : waiting)
    {
        if (!m_nic)
        {
            return;
        }
        if (m_queues->GetTxQueue(frame.queue)->IsStopped())
        {
            m_waiting.push_back(std::move(frame));
            continue;
        }
        m_handed = frame.token;
        Send(frame);
        if (const auto token = std::exchange(m_handed, std::nullopt))
        {
            m_nic->TransmitDone(*token); // no queue will report that the frame has left
        }
    }
}

bool
KernelDeviceBridge::Send(const Waiting& frame)
{
    // If the device does not need ARP, the kernel does not know the destination's link-layer
    // address, and the frame is broadcast; ns-3's own stack broadcasts in that case, too.
    const Address to = m_device->NeedsArp() ? Address(frame.to) : m_device->GetBroadcast();
    if (m_device->SupportsSendFrom() && frame.from != OwnAddress())
    {
        return m_device->SendFrom(frame.packet, frame.from, to, frame.protocol);
    }
    return m_device->Send(frame.packet, to, frame.protocol);
}

void
KernelDeviceBridge::SendNext()
{
    while (!m_sending && !m_waiting.empty())
    {
        m_sending = true; // before Send(), which may report the end of transmission at once
        if (!Send(m_waiting.front()))
        {
            m_sending = false;
            const auto token = m_waiting.front().token;
            m_waiting.pop_front();
            Return(token);
        }
    }
}

void
KernelDeviceBridge::Ended(Ptr<const Packet>)
{
    // The next frame is sent in a separate event: the device is changing its state now and accepts
    // no frame.
    if (m_sending && !m_waiting.empty())
    {
        Simulator::ScheduleNow(&KernelDeviceBridge::Complete, this);
    }
}

void
KernelDeviceBridge::Complete()
{
    if (!m_nic || !std::exchange(m_sending, false))
    {
        return;
    }
    const auto token = m_waiting.front().token;
    m_waiting.pop_front();
    SendNext();
    Return(token);
}

bool
KernelDeviceBridge::Ignore(Ptr<NetDevice>, Ptr<const Packet>, uint16_t, const Address&)
{
    return true;
}

bool
KernelDeviceBridge::Receive(Ptr<NetDevice>,
                            Ptr<const Packet> packet,
                            uint16_t protocol,
                            const Address& from)
{
    Deliver(packet, protocol, from, GroupOrOwn(packet, protocol, OwnAddress()));
    return true;
}

bool
KernelDeviceBridge::ReceivePromiscuous(Ptr<NetDevice>,
                                       Ptr<const Packet> packet,
                                       uint16_t protocol,
                                       const Address& from,
                                       const Address& to,
                                       NetDevice::PacketType type)
{
    // The destination address is checked in addition to the packet type: a BridgeNetDevice passes
    // the packet type that the frame had at the port of the switch, not at the BridgeNetDevice.
    const Mac48Address destination = Mac48Address::ConvertFrom(to);
    if (type != NetDevice::PACKET_OTHERHOST || destination == OwnAddress())
    {
        Deliver(packet, protocol, from, destination);
    }
    return true;
}

void
KernelDeviceBridge::Deliver(Ptr<const Packet> packet,
                            uint16_t protocol,
                            const Address& from,
                            Mac48Address to)
{
    if (!m_up || IsDown(protocol))
    {
        return;
    }
    CheckMtu();
    m_frame.resize(wire::EthernetHeader::kSize + packet->GetSize());
    // A device of a link without Ethernet addresses passes no Ethernet source address.
    const Mac48Address source =
        Mac48Address::IsMatchingType(from) ? Mac48Address::ConvertFrom(from) : Mac48Address();
    wire::EthernetHeader{wireconversion::ToWire(to), wireconversion::ToWire(source), protocol}
        .Write(m_frame);
    JoinPacket(*packet, std::span(m_frame).subspan(wire::EthernetHeader::kSize), FirstHeader::IP);
    Capture(m_frame);
    if (m_watch)
    {
        m_watch(m_frame, false);
    }
    m_nic->Deliver(m_frame);
}

} // namespace ns3
