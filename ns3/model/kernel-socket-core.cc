/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "kernel-socket-core.h"

#include "kernel-socket-address.h"
#include "kernel-socket-stack.h"

#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv4-packet-info-tag.h"
#include "ns3/ipv6-packet-info-tag.h"
#include "ns3/log.h"
#include "ns3/net-device.h"
#include "ns3/node.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <netinet/in.h>
#include <sys/socket.h>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("KernelSocketCore");

namespace agent = viaduct::kernel::agent;
using agent::BytesOf;

namespace
{

Ptr<Packet>
ToPacket(const viaduct::kernel::SocketEvents::Data& data)
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

KernelSocketCore::KernelSocketCore(KernelSocketUser& user, const Kind& kind)
    : m_user(user), m_kind(kind)
{
}

KernelSocketCore::~KernelSocketCore()
{
    // Nobody keeps it any more: it was never opened, is closed, or the simulation is over.
    if (m_number != 0 && m_stack->HasAgent())
    {
        m_stack->GetAgent().Detach(m_number);
    }
}

void
KernelSocketCore::SetNode(Ptr<Node> node)
{
    m_node = node;
    m_stack = node->GetObject<KernelSocketStack>();
    NS_ABORT_MSG_UNLESS(m_stack,
                        "a kernel socket on node " << node->GetId()
                                                   << ", which has no kernel: install "
                                                      "KernelStackHelper on it");
}

Ptr<Node>
KernelSocketCore::GetNode() const
{
    return m_node;
}

void
KernelSocketCore::SetProtocol(int protocol)
{
    m_kind.protocol = protocol;
}

void
KernelSocketCore::SetPrepare(Prepare prepare)
{
    m_prepare = std::move(prepare);
}

void
KernelSocketCore::SetSendWindow(uint32_t bytes)
{
    m_sendWindow = bytes;
}

void
KernelSocketCore::SetReceiveWindow(uint32_t bytes)
{
    m_receiveWindow = bytes;
}

uint32_t
KernelSocketCore::GetSendWindow() const
{
    return m_sendWindow;
}

uint32_t
KernelSocketCore::GetReceiveWindow() const
{
    return m_receiveWindow;
}

bool
KernelSocketCore::IsIpv6() const
{
    return m_family == AF_INET6;
}

int
KernelSocketCore::Fail(Socket::SocketErrno error)
{
    m_errno = error;
    return -1;
}

Socket::SocketErrno
KernelSocketCore::GetErrno() const
{
    return m_errno;
}

uint32_t
KernelSocketCore::Tell(Code code,
                       std::initializer_list<std::span<const std::byte>> parts,
                       uint16_t flags)
{
    return m_stack->HasAgent() ? m_stack->GetAgent().Tell(code, m_number, parts, flags) : 0;
}

void
KernelSocketCore::Open(int family)
{
    NS_LOG_FUNCTION(this << family);
    NS_ABORT_MSG_UNLESS(m_stack, "a kernel socket without a node");
    m_family = family;
    m_state = OPEN;
    m_number = m_stack->GetAgent().NewSocket(this);
    m_stack->Keep(m_number, m_user.AsSocket());
    const agent::OpenSocket request{m_stack->GetNumber(),
                                    static_cast<uint16_t>(family),
                                    static_cast<uint16_t>(m_kind.type),
                                    static_cast<uint32_t>(m_kind.protocol),
                                    0,
                                    m_receiveWindow};
    Tell(Code::kOpenSocket, {BytesOf(request)});
    if (m_kind.type == SOCK_DGRAM && !m_kind.connects)
    {
        // ns-3 lets sockets share a port that differ in address or device; routing protocols do.
        SyncOption(SOL_SOCKET, SO_REUSEADDR, 1);
    }
    for (const Option& option : m_options)
    {
        const agent::SocketOption header{option.level, option.name};
        Tell(Code::kSetOption, {BytesOf(header), option.value});
    }
    m_options.clear();
    SyncOptions();
}

int
KernelSocketCore::OpenFor(const Address& address)
{
    const auto endpoint = kernelsocket::ToEndpoint(address);
    if (!endpoint)
    {
        return Fail(Socket::ERROR_INVAL);
    }
    if (m_state == CLOSED)
    {
        return Fail(Socket::ERROR_BADF);
    }
    if (m_state == UNOPENED)
    {
        Open(endpoint->family);
    }
    return m_family == endpoint->family ? 0 : Fail(Socket::ERROR_AFNOSUPPORT);
}

// The settings that Socket keeps in members without telling anybody.
void
KernelSocketCore::SyncOptions()
{
    const Ptr<Socket> socket = m_user.AsSocket();
    const bool ipv6 = IsIpv6();
    SyncOption(SOL_SOCKET, SO_PRIORITY, socket->GetPriority());
    if (!m_kind.connects)
    {
        // Always: OLSR and others ask for it when the socket is bound already.
        SyncOption(ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, ipv6 ? IPV6_RECVPKTINFO : IP_PKTINFO, 1);
    }
    if (ipv6)
    {
        SyncOption(
            IPPROTO_IPV6, IPV6_TCLASS, m_user.HasManualTclass() ? socket->GetIpv6Tclass() : 0);
        SyncOption(IPPROTO_IPV6,
                   IPV6_UNICAST_HOPS,
                   m_user.HasManualHopLimit() ? socket->GetIpv6HopLimit() : -1);
        SyncOption(IPPROTO_IPV6, IPV6_RECVTCLASS, socket->IsIpv6RecvTclass() || m_prepare ? 1 : 0);
        SyncOption(
            IPPROTO_IPV6, IPV6_RECVHOPLIMIT, socket->IsIpv6RecvHopLimit() || m_prepare ? 1 : 0);
    }
    else
    {
        SyncOption(IPPROTO_IP, IP_TOS, socket->GetIpTos());
        SyncOption(IPPROTO_IP, IP_TTL, m_user.HasManualTtl() ? socket->GetIpTtl() : -1);
        SyncOption(IPPROTO_IP, IP_RECVTOS, socket->IsIpRecvTos() ? 1 : 0);
        SyncOption(IPPROTO_IP, IP_RECVTTL, socket->IsIpRecvTtl() ? 1 : 0);
    }
}

void
KernelSocketCore::SyncOption(int level, int name, int value)
{
    const bool defaultsToMinusOne = name == (level == IPPROTO_IP ? IP_TTL : IPV6_UNICAST_HOPS);
    const auto [known, added] =
        m_synced.try_emplace({level, name}, level != SOL_SOCKET && defaultsToMinusOne ? -1 : 0);
    if (known->second != value)
    {
        known->second = value;
        SetSockOpt(level, name, value);
    }
}

int
KernelSocketCore::SetSockOpt(int level, int name, std::span<const std::byte> value)
{
    if (m_state == UNOPENED)
    {
        m_options.push_back({level, name, {value.begin(), value.end()}});
    }
    else if (m_state != CLOSED)
    {
        const agent::SocketOption option{level, name};
        Tell(Code::kSetOption, {BytesOf(option), value});
    }
    return 0;
}

int
KernelSocketCore::SetSockOpt(int level, int name, int value)
{
    return SetSockOpt(level, name, BytesOf(value));
}

int
KernelSocketCore::GetSockOpt(int level, int name, std::vector<std::byte>* value)
{
    if (m_state == UNOPENED || m_state == CLOSED)
    {
        return Fail(Socket::ERROR_BADF);
    }
    const agent::SocketOption option{level, name};
    m_option.reset();
    m_answer.reset();
    if (!m_stack->GetAgent().Await(Tell(Code::kGetOption, {BytesOf(option)})))
    {
        return Fail(Socket::ERROR_AGAIN);
    }
    if (!m_option)
    {
        return Fail(kernelsocket::ToSocketErrno(m_answer.value_or(EINVAL)));
    }
    *value = std::move(*m_option);
    return 0;
}

int
KernelSocketCore::BindTo(const Endpoint& endpoint, bool await)
{
    SyncOptions();
    m_bound = true;
    m_answer.reset();
    m_bindRequest = Tell(Code::kBind, {BytesOf(endpoint)});
    // Before the guest has booted this is as good as done; a failure then shows in GetErrno().
    if (await && m_stack->GetAgent().Await(m_bindRequest) && m_answer)
    {
        m_bound = false;
        return Fail(kernelsocket::ToSocketErrno(*m_answer));
    }
    if (!m_local && endpoint.port != 0)
    {
        m_local = endpoint;
    }
    return 0;
}

int
KernelSocketCore::Bind(const Address& address)
{
    NS_LOG_FUNCTION(this << address);
    if (OpenFor(address) != 0)
    {
        return -1;
    }
    return BindTo(*kernelsocket::ToEndpoint(address), true);
}

int
KernelSocketCore::BindAny(bool ipv6)
{
    NS_LOG_FUNCTION(this << ipv6);
    if (m_state == CLOSED)
    {
        return Fail(Socket::ERROR_BADF);
    }
    if (m_state == UNOPENED)
    {
        Open(ipv6 ? AF_INET6 : AF_INET);
    }
    Endpoint any{};
    any.family = static_cast<uint16_t>(m_family);
    return BindTo(any, false);
}

void
KernelSocketCore::BindToNetDevice(Ptr<NetDevice> device)
{
    const std::string name = device ? m_stack->GetInterfaceName(device) : "";
    NS_ABORT_MSG_IF(device && name.empty(),
                    "a kernel socket bound to a device that the node's kernel does not have");
    SetSockOpt(SOL_SOCKET, SO_BINDTODEVICE, BytesOf(std::string_view(name)));
}

int
KernelSocketCore::Connect(const Address& address)
{
    NS_LOG_FUNCTION(this << address);
    if (m_kind.connects && (m_state == CONNECTING || m_state == CONNECTED))
    {
        return Fail(Socket::ERROR_ISCONN);
    }
    if (OpenFor(address) != 0)
    {
        return -1;
    }
    SyncOptions();
    m_peer = kernelsocket::ToEndpoint(address);
    m_state = CONNECTING;
    Tell(Code::kConnect, {BytesOf(*m_peer)});
    return 0;
}

int
KernelSocketCore::Listen(uint32_t backlog)
{
    NS_LOG_FUNCTION(this << backlog);
    if (!m_kind.connects)
    {
        return Fail(Socket::ERROR_OPNOTSUPP);
    }
    if (m_state == UNOPENED)
    {
        Open(AF_INET);
    }
    if (m_state != OPEN)
    {
        return Fail(Socket::ERROR_INVAL);
    }
    SyncOptions();
    m_state = LISTENING;
    const agent::Listen request{backlog, 0, m_receiveWindow};
    Tell(Code::kListen, {BytesOf(request)});
    return 0;
}

int
KernelSocketCore::Send(Ptr<const Packet> packet)
{
    if (m_state != CONNECTED && m_state != CONNECTING)
    {
        return Fail(m_closing ? Socket::ERROR_SHUTDOWN : Socket::ERROR_NOTCONN);
    }
    return SendBytes(packet, nullptr);
}

int
KernelSocketCore::SendTo(Ptr<const Packet> packet, const Address& to)
{
    if (m_kind.connects)
    {
        return Send(packet); // as ns-3's TCP: the address says nothing new
    }
    if (OpenFor(to) != 0)
    {
        return -1;
    }
    if (!m_bound && m_kind.type == SOCK_DGRAM)
    {
        BindAny(IsIpv6());
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
    SyncOptions();
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
    return static_cast<int>(size);
}

uint32_t
KernelSocketCore::GetTxAvailable() const
{
    const uint64_t free = m_sendWindow - std::min<uint64_t>(m_sendWindow, m_unwritten);
    return static_cast<uint32_t>(
        m_kind.maxDatagram == 0 ? free : std::min<uint64_t>(free, m_kind.maxDatagram));
}

uint32_t
KernelSocketCore::GetRxAvailable() const
{
    return static_cast<uint32_t>(m_available);
}

// As much as there is, up to maxSize: a stream knows no packets.
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
        *from = m_kind.connects && m_peer ? ToAddress(*m_peer) : m_received.front().from;
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
        m_errno = Socket::ERROR_AGAIN; // as ns-3's UDP: not a part of a datagram
        return nullptr;
    }
    const Ptr<Packet> taken = m_received.front().packet;
    m_received.pop_front();
    Consumed(std::max<uint64_t>(taken->GetSize(), 1));
    return taken;
}

// Credit is given back half a window at a time: each message to the guest costs.
void
KernelSocketCore::Consumed(uint64_t bytes)
{
    m_available -= std::min(m_available, bytes);
    m_unreturned += bytes;
    if (m_unreturned < std::max<uint64_t>(m_receiveWindow / 2, 1) || m_number == 0 || m_ended)
    {
        return;
    }
    Tell(Code::kCredit, {BytesOf(m_unreturned)});
    m_unreturned = 0;
}

int
KernelSocketCore::ShutdownSend()
{
    m_shutdownSend = true;
    if (m_kind.connects && (m_state == CONNECTED || m_state == CONNECTING))
    {
        Tell(Code::kShutdown, {BytesOf(uint32_t{SHUT_WR})});
    }
    return 0;
}

int
KernelSocketCore::ShutdownRecv()
{
    m_shutdownRecv = true;
    return 0;
}

// As in ns-3, closing a connection ends the sending; the receiving ends with the peer's, which is
// when the socket is gone and said to be closed. With data unread it is reset.
int
KernelSocketCore::Close()
{
    NS_LOG_FUNCTION(this);
    if (m_closing || m_state == CLOSED)
    {
        return Fail(Socket::ERROR_BADF);
    }
    m_closing = true;
    if (m_state == UNOPENED)
    {
        m_state = CLOSED;
    }
    else if (m_state != CONNECTED || !m_kind.connects)
    {
        CloseInKernel(false);
    }
    else if (m_available > 0)
    {
        CloseInKernel(true);
    }
    else if (m_ended)
    {
        CloseInKernel(false);
        NotifyClosedOnce();
    }
    else if (!m_shutdownSend)
    {
        ShutdownSend();
    }
    return 0;
}

void
KernelSocketCore::NotifyClosedOnce()
{
    if (!std::exchange(m_closeNotified, true))
    {
        m_user.NormalClose();
    }
}

void
KernelSocketCore::CloseInKernel(bool abort)
{
    if (m_state == UNOPENED || m_state == CLOSED)
    {
        return;
    }
    m_state = CLOSED;
    Tell(Code::kClose, {}, abort ? agent::kAbort : 0);
    if (m_stack->HasAgent())
    {
        m_stack->GetAgent().Detach(m_number);
    }
    // Nothing of this object may be used after: its user may go with it. So later.
    Simulator::ScheduleNow(&KernelSocketStack::Release, m_stack, m_number);
    m_number = 0;
}

Address
KernelSocketCore::ToAddress(const Endpoint& endpoint) const
{
    return kernelsocket::FromEndpoint(endpoint);
}

int
KernelSocketCore::GetSockName(Address& address) const
{
    if (!m_local && m_bindRequest != 0 && m_state != CLOSED)
    {
        m_stack->GetAgent().Await(m_bindRequest);
    }
    if (m_local)
    {
        address = ToAddress(*m_local);
    }
    else if (IsIpv6())
    {
        address = Inet6SocketAddress(Ipv6Address::GetAny(), 0);
    }
    else
    {
        address = InetSocketAddress(Ipv4Address::GetAny(), 0);
    }
    return 0;
}

int
KernelSocketCore::GetPeerName(Address& address) const
{
    if (!m_peer)
    {
        m_errno = Socket::ERROR_NOTCONN;
        return -1;
    }
    address = ToAddress(*m_peer);
    return 0;
}

void
KernelSocketCore::OnBound(const Endpoint& local)
{
    m_local = local;
}

void
KernelSocketCore::OnConnected(const Endpoint& local, const Endpoint& peer)
{
    if (m_state != CONNECTING)
    {
        return;
    }
    m_state = CONNECTED;
    m_local = local;
    m_peer = peer;
    m_user.ConnectionSucceeded();
    if (m_state == CONNECTED && GetTxAvailable() > 0)
    {
        m_user.SendSpace(GetTxAvailable());
    }
}

void
KernelSocketCore::OnAccepted(const agent::Accepted& accepted)
{
    const Address from = ToAddress(accepted.peer);
    if (m_closing || !m_user.ConnectionRequest(from))
    {
        m_stack->GetAgent().Tell(Code::kClose, accepted.socket, {}, agent::kAbort);
        return;
    }
    const auto [socket, core] = m_user.Fork();
    core->BecomeAccepted(*this, accepted);
    m_stack->Keep(accepted.socket, socket);
    m_user.NewConnection(socket, from);
    if (core->m_state == CONNECTED && core->GetTxAvailable() > 0)
    {
        core->m_user.SendSpace(core->GetTxAvailable());
    }
}

void
KernelSocketCore::BecomeAccepted(const KernelSocketCore& listener, const agent::Accepted& accepted)
{
    m_node = listener.m_node;
    m_stack = listener.m_stack;
    m_kind = listener.m_kind;
    m_family = listener.m_family;
    m_synced = listener.m_synced; // accepted sockets inherit them
    m_shutdownSend = listener.m_shutdownSend;
    m_shutdownRecv = listener.m_shutdownRecv;
    m_sendWindow = listener.m_sendWindow;
    m_receiveWindow = listener.m_receiveWindow;
    m_bound = true;
    m_state = CONNECTED;
    m_number = accepted.socket;
    m_local = accepted.local;
    m_peer = accepted.peer;
    m_stack->GetAgent().Attach(m_number, this);
}

void
KernelSocketCore::AddTags(Ptr<Packet> packet, const Data& data) const
{
    if (!data.info)
    {
        return;
    }
    const Ptr<Socket> socket = m_user.AsSocket();
    const auto& info = *data.info;
    const Ptr<NetDevice> device = m_stack->GetDevice(info.ifindex);
    const uint32_t index = device ? device->GetIfIndex() : 0;
    if (IsIpv6())
    {
        if (socket->IsRecvPktInfo())
        {
            Ipv6PacketInfoTag tag;
            tag.SetAddress(Ipv6Address::Deserialize(info.destination.address));
            tag.SetHoplimit(info.ttl);
            tag.SetTrafficClass(info.tos);
            tag.SetRecvIf(index);
            packet->AddPacketTag(tag);
        }
        if (socket->IsIpv6RecvTclass() && info.tos >= 0)
        {
            SocketIpv6TclassTag tag;
            tag.SetTclass(info.tos);
            packet->AddPacketTag(tag);
        }
        if (socket->IsIpv6RecvHopLimit() && info.ttl >= 0)
        {
            SocketIpv6HopLimitTag tag;
            tag.SetHopLimit(info.ttl);
            packet->AddPacketTag(tag);
        }
        return;
    }
    if (socket->IsRecvPktInfo())
    {
        Ipv4PacketInfoTag tag;
        tag.SetAddress(Ipv4Address::Deserialize(info.destination.address));
        tag.SetTtl(info.ttl);
        tag.SetRecvIf(index);
        packet->AddPacketTag(tag);
    }
    if (socket->IsIpRecvTos() && info.tos >= 0)
    {
        SocketIpTosTag tag;
        tag.SetTos(info.tos);
        packet->AddPacketTag(tag);
    }
    if (socket->IsIpRecvTtl() && info.ttl >= 0)
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
    if (m_shutdownRecv)
    {
        m_available += cost;
        Consumed(cost);
        return;
    }
    const Ptr<Packet> packet = ToPacket(data);
    AddTags(packet, data);
    if (m_prepare)
    {
        m_prepare(packet, data);
    }
    m_received.push_back({packet, data.from ? ToAddress(*data.from) : Address()});
    m_available += cost;
    m_user.DataReceived();
}

void
KernelSocketCore::OnWritten(uint64_t bytes)
{
    m_unwritten -= std::min(m_unwritten, bytes);
    if (m_closing)
    {
        return;
    }
    m_user.DataSent(static_cast<uint32_t>(bytes));
    if (!m_shutdownSend && GetTxAvailable() > 0)
    {
        m_user.SendSpace(GetTxAvailable());
    }
}

void
KernelSocketCore::OnEnd()
{
    NS_LOG_FUNCTION(this);
    m_ended = true;
    NotifyClosedOnce();
    if (m_closing)
    {
        CloseInKernel(false);
    }
    else if (m_shutdownSend)
    {
        Close(); // as ns-3's TCP: there is nothing more to come either way
    }
}

void
KernelSocketCore::OnBroken(int errorNumber)
{
    NS_LOG_FUNCTION(this << errorNumber);
    m_errno = kernelsocket::ToSocketErrno(errorNumber);
    if (!m_kind.connects)
    {
        return; // an ICMP error: the next datagram may fare better
    }
    m_ended = true;
    m_closing = true;
    CloseInKernel(false);
    if (!std::exchange(m_closeNotified, true))
    {
        m_user.ErrorClose();
    }
}

void
KernelSocketCore::OnFailed(Code code, int errorNumber)
{
    NS_LOG_FUNCTION(this << static_cast<int>(code) << errorNumber);
    m_answer = errorNumber;
    m_errno = kernelsocket::ToSocketErrno(errorNumber);
    if (code == Code::kOpenSocket)
    {
        NS_FATAL_ERROR("node " << m_node->GetId() << ": its kernel opens no socket of protocol "
                               << m_kind.protocol << " (error " << errorNumber
                               << "): build it with that protocol");
    }
    if (code == Code::kConnect && m_state == CONNECTING)
    {
        m_state = OPEN;
        m_user.ConnectionFailed();
    }
}

void
KernelSocketCore::OnOption(const agent::SocketOption&, std::span<const std::byte> value)
{
    m_option.emplace(value.begin(), value.end());
}

} // namespace ns3
