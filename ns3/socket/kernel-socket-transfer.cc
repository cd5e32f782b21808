/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/socket/kernel-socket-core.h"

#include "ns3/socket/kernel-socket-address.h"
#include "ns3/socket/kernel-socket-stack.h"

#include "ns3/ipv4-packet-info-tag.h"
#include "ns3/ipv6-packet-info-tag.h"
#include "ns3/net-device.h"

#include <algorithm>
#include <sys/socket.h>
#include <utility>

namespace ns3
{

namespace agent = viaduct::guest::agent;
using agent::BytesOf;

namespace
{

/// Flags of Send() that are accepted and ignored, because a simulation always behaves as these
/// flags require.
constexpr uint32_t HARMLESS_FLAGS = MSG_DONTWAIT | MSG_NOSIGNAL;

Ptr<Packet>
ToPacket(const viaduct::guest::SocketEvents::Data& data)
{
    if (data.bytes.empty())
    {
        return Create<Packet>(static_cast<uint32_t>(data.size));
    }
    return Create<Packet>(reinterpret_cast<const uint8_t*>(data.bytes.data()),
                          static_cast<uint32_t>(data.bytes.size()));
}

bool
IsAllZero(const std::vector<uint8_t>& bytes)
{
    return std::all_of(bytes.begin(), bytes.end(), [](uint8_t byte) { return byte == 0; });
}

} // namespace

int
KernelSocketCore::Send(Ptr<const Packet> packet, uint32_t flags)
{
    if ((flags & ~HARMLESS_FLAGS) != 0)
    {
        return Fail(Socket::ERROR_OPNOTSUPP);
    }
    if (m_state != CONNECTED && m_state != CONNECTING)
    {
        return Fail(m_closing ? Socket::ERROR_SHUTDOWN : Socket::ERROR_NOTCONN);
    }
    return SendBytes(packet, nullptr);
}

int
KernelSocketCore::SendTo(Ptr<const Packet> packet, uint32_t flags, const Address& to)
{
    if (m_kind.connects)
    {
        return Send(packet, flags); // the address is ignored, as in ns-3's TCP
    }
    if ((flags & ~HARMLESS_FLAGS) != 0)
    {
        return Fail(Socket::ERROR_OPNOTSUPP);
    }
    if (OpenFor(to) != 0)
    {
        return -1;
    }
    if (!m_bound && m_kind.type == SOCK_DGRAM)
    {
        BindAny(IsIpv6());
    }
    if (!std::exchange(m_sent, true))
    {
        m_stack->UpdateRoutes();
    }
    const auto endpoint = kernelsocket::ToEndpoint(to);
    return SendBytes(packet, &*endpoint);
}

int
KernelSocketCore::SendBytes(Ptr<const Packet> packet, const Endpoint* to)
{
    const uint32_t size = packet->GetSize();
    if (m_shutdownSend || m_closing)
    {
        return Fail(Socket::ERROR_SHUTDOWN);
    }
    if (m_kind.maxDatagram != 0 && size > m_kind.maxDatagram)
    {
        return Fail(Socket::ERROR_MSGSIZE);
    }
    if (size > GetTxAvailable() && m_unwritten > 0)
    {
        return Fail(m_kind.stream ? Socket::ERROR_MSGSIZE : Socket::ERROR_AGAIN);
    }
    SyncOptions(packet, to != nullptr || !m_peer ? to : &*m_peer);
    std::vector<uint8_t> bytes(size);
    packet->CopyData(bytes.data(), size);
    const std::span<const std::byte> nothing;
    const auto front = to == nullptr ? nothing : BytesOf(*to);
    const uint16_t flags = to == nullptr ? 0 : agent::kToEndpoint;
    const size_t most = m_stack->GetAgent().MaxData();
    if (size > 0 && IsAllZero(bytes))
    {
        const uint64_t count = size;
        Tell(Code::kSend, {front, BytesOf(count)}, flags | agent::kZeros);
    }
    else
    {
        auto rest = std::as_bytes(std::span(bytes));
        do
        {
            const auto piece = rest.first(std::min(rest.size(), most));
            rest = rest.subspan(piece.size());
            Tell(Code::kSend, {front, piece}, flags);
        } while (!rest.empty());
    }
    m_unwritten += size;
    // A raw socket waits for the kernel's answer to the send. Protocols send few packets through
    // raw sockets, and so are notified of failures at once, as by ns-3's own raw sockets.
    if (m_kind.type == SOCK_RAW && m_stack->HasAgent())
    {
        m_refused = false;
        m_stack->GetAgent().AwaitFailures(m_number);
        return m_refused ? -1 : static_cast<int>(size);
    }
    return static_cast<int>(size);
}

uint32_t
KernelSocketCore::GetTxAvailable() const
{
    const uint64_t free = m_sendBuffer - std::min<uint64_t>(m_sendBuffer, m_unwritten);
    return static_cast<uint32_t>(
        m_kind.maxDatagram == 0 ? free : std::min<uint64_t>(free, m_kind.maxDatagram));
}

uint32_t
KernelSocketCore::GetRxAvailable() const
{
    return static_cast<uint32_t>(m_available);
}

// Returns all available data, up to maxSize bytes: a stream has no packet boundaries.
Ptr<Packet>
KernelSocketCore::TakeStream(uint32_t maxSize)
{
    Ptr<Packet> taken;
    uint32_t left = maxSize;
    while (left > 0 && !m_received.empty())
    {
        Received& first = m_received.front();
        const uint32_t size = first.packet->GetSize();
        Ptr<Packet> piece = first.packet;
        if (size <= left)
        {
            m_received.pop_front();
        }
        else
        {
            piece = first.packet->CreateFragment(0, left);
            first.packet->RemoveAtStart(left);
        }
        left -= piece->GetSize();
        if (taken)
        {
            taken->AddAtEnd(piece);
        }
        else
        {
            taken = piece;
        }
    }
    return taken;
}

Ptr<Packet>
KernelSocketCore::RecvFrom(uint32_t maxSize, uint32_t flags, Address* from)
{
    if (m_received.empty())
    {
        m_errno = Socket::ERROR_AGAIN;
        return m_ended && m_kind.stream ? Create<Packet>() : nullptr;
    }
    if (from != nullptr)
    {
        *from = m_kind.connects && m_peer ? kernelsocket::FromEndpoint(*m_peer)
                                          : m_received.front().from;
    }
    if ((flags & MSG_PEEK) != 0)
    {
        const Ptr<Packet> first = m_received.front().packet;
        return first->CreateFragment(0, std::min(maxSize, first->GetSize()));
    }
    if (m_kind.stream)
    {
        const Ptr<Packet> taken = TakeStream(maxSize);
        Consumed(taken ? taken->GetSize() : 0);
        return taken;
    }
    if (m_received.front().packet->GetSize() > maxSize)
    {
        m_errno = Socket::ERROR_AGAIN; // no part of a datagram is returned, as in ns-3's UDP
        return nullptr;
    }
    const Ptr<Packet> taken = m_received.front().packet;
    m_received.pop_front();
    Consumed(std::max<uint64_t>(taken->GetSize(), 1));
    return taken;
}

// Counts bytes that the application has read, and reports them to the guest as credit for more
// data. A report covers at least half a buffer, because each message to the guest has a cost.
void
KernelSocketCore::Consumed(uint64_t bytes)
{
    m_available -= std::min(m_available, bytes);
    m_unreturned += bytes;
    if (m_unreturned < std::max<uint64_t>(m_receiveBuffer / 2, 1) || m_number == 0 || m_ended)
    {
        return;
    }
    Tell(Code::kCredit, {BytesOf(m_unreturned)});
    m_unreturned = 0;
}

void
KernelSocketCore::AddTags(Ptr<Packet> packet, const Data& data) const
{
    if (!data.info)
    {
        return;
    }
    const auto& info = *data.info;
    const Ptr<NetDevice> device = m_stack->GetDevice(info.ifindex);
    const uint32_t index = device ? device->GetIfIndex() : 0;
    if (IsIpv6())
    {
        if (m_socket.IsRecvPktInfo())
        {
            Ipv6PacketInfoTag tag;
            tag.SetAddress(Ipv6Address::Deserialize(info.destination.address));
            tag.SetHoplimit(info.ttl);
            tag.SetTrafficClass(info.tos);
            tag.SetRecvIf(index);
            packet->AddPacketTag(tag);
        }
        if (m_socket.IsIpv6RecvTclass() && info.tos >= 0)
        {
            SocketIpv6TclassTag tag;
            tag.SetTclass(info.tos);
            packet->AddPacketTag(tag);
        }
        if (m_socket.IsIpv6RecvHopLimit() && info.ttl >= 0)
        {
            SocketIpv6HopLimitTag tag;
            tag.SetHopLimit(info.ttl);
            packet->AddPacketTag(tag);
        }
        return;
    }
    if (m_socket.IsRecvPktInfo())
    {
        Ipv4PacketInfoTag tag;
        tag.SetAddress(Ipv4Address::Deserialize(info.destination.address));
        tag.SetTtl(info.ttl);
        tag.SetRecvIf(index);
        packet->AddPacketTag(tag);
    }
    if (m_socket.IsIpRecvTos() && info.tos >= 0)
    {
        SocketIpTosTag tag;
        tag.SetTos(info.tos);
        packet->AddPacketTag(tag);
    }
    if (m_socket.IsIpRecvTtl() && info.ttl >= 0)
    {
        SocketIpTtlTag tag;
        tag.SetTtl(info.ttl);
        packet->AddPacketTag(tag);
    }
}

void
KernelSocketCore::OnData(const Data& data)
{
    const uint64_t cost = m_kind.stream ? data.size : std::max<uint64_t>(data.size, 1);
    const Ptr<Packet> packet = ToPacket(data);
    AddTags(packet, data);
    m_available += cost;
    if (m_shutdownRecv || (m_prepare && !m_prepare(packet, data)))
    {
        Consumed(cost);
        return;
    }
    m_received.push_back({packet, data.from ? kernelsocket::FromEndpoint(*data.from) : Address()});
    (m_socket.*&Inside::NotifyDataRecv)();
}

void
KernelSocketCore::OnWritten(uint64_t bytes)
{
    m_unwritten -= std::min(m_unwritten, bytes);
    if (m_closing)
    {
        return;
    }
    (m_socket.*&Inside::NotifyDataSent)(static_cast<uint32_t>(bytes));
    if (!m_shutdownSend)
    {
        NotifySpace();
    }
}

void
KernelSocketCore::NotifySpace()
{
    if (GetTxAvailable() > 0)
    {
        (m_socket.*&Inside::NotifySend)(GetTxAvailable());
    }
}

} // namespace ns3
