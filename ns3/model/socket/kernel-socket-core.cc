/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "kernel-socket-core.h"

#include "kernel-socket-address.h"
#include "kernel-socket-stack.h"
#include "ns3/kernel-node.h"

#include "ns3/abort.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv6.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/simulator.h"

#include "base/error.h"

#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <utility>

// What a socket sends and receives is in kernel-socket-transfer.cc, its options in
// kernel-socket-options.cc.

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("KernelSocketCore");

namespace agent = viaduct::guest::agent;
using agent::BytesOf;

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
    for (const Option& option : m_options)
    {
        TellOption(option);
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

int
KernelSocketCore::BindTo(const Endpoint& endpoint, bool await)
{
    SyncOptions();
    if (m_kind.type == SOCK_DGRAM && !m_kind.connects && endpoint.port != 0)
    {
        if (!Claim(endpoint))
        {
            return Fail(Socket::ERROR_ADDRINUSE);
        }
        // ns-3 lets sockets share a port that differ in address or device; routing protocols do.
        SyncOption(SOL_SOCKET, SO_REUSEADDR, 1);
    }
    m_bound = true;
    m_answer.reset();
    m_bindRequest = TellBind(endpoint);
    // Before the guest has booted this is as good as done; a failure then shows in GetErrno().
    if (await && m_stack->GetAgent().Await(m_bindRequest) && m_answer)
    {
        m_bound = false;
        m_claimed.reset();
        m_stack->Unclaim(m_number);
        return Fail(kernelsocket::ToSocketErrno(*m_answer));
    }
    if (!m_local && endpoint.port != 0)
    {
        m_local = endpoint;
    }
    return 0;
}

bool
KernelSocketCore::Claim(const Endpoint& endpoint)
{
    const auto* address = endpoint.address;
    std::vector<uint8_t> bytes(address, address + sizeof endpoint.address);
    bytes.push_back(static_cast<uint8_t>(endpoint.family));
    if (!m_stack->Claim(m_number, {endpoint.port, bytes, m_device}))
    {
        return false;
    }
    m_claimed = endpoint;
    return true;
}

// A link-local address is of one interface, which ns-3's address of a socket does not say.
uint32_t
KernelSocketCore::TellBind(const Endpoint& endpoint)
{
    const auto ipv6 = m_node->GetObject<Ipv6>();
    const Ipv6Address address = Ipv6Address::Deserialize(endpoint.address);
    if (endpoint.family != AF_INET6 || !address.IsLinkLocal() || !ipv6 || !m_stack->HasAgent())
    {
        return Tell(Code::kBind, {BytesOf(endpoint)});
    }
    const int32_t interface = ipv6->GetInterfaceForAddress(address);
    const Ptr<NetDevice> device =
        interface < 0 ? m_device : ipv6->GetNetDevice(static_cast<uint32_t>(interface));
    return m_stack->GetAgent().TellLate(Code::kBind, m_number, [=, stack = m_stack] {
        Endpoint complete = endpoint;
        complete.scope = static_cast<uint32_t>(stack->GetInterfaceIndex(device));
        const auto bytes = BytesOf(complete);
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    });
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
    ReadRoutes();
    m_peer = kernelsocket::ToEndpoint(address);
    m_state = CONNECTING;
    Tell(Code::kConnect, {BytesOf(*m_peer)});
    return 0;
}

// ns-3's protocols tell nobody of routes that are set by hand; they count from then on.
void
KernelSocketCore::ReadRoutes() const
{
    if (const auto kernel = m_node->GetObject<KernelNode>())
    {
        kernel->RoutesMayHaveChanged();
    }
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
    else if (m_ended || !m_kind.halfCloses)
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
KernelSocketCore::RefuseToOpen(int errorNumber) const
{
    const auto kernel = m_node->GetObject<KernelNode>();
    std::string words = "kernel node ";
    words += kernel ? kernel->GetName() : "n" + std::to_string(m_node->GetId());
    words += ": open a socket of protocol " + std::to_string(m_kind.protocol) + ": ";
    words += std::strerror(errorNumber);
    if (errorNumber == EMFILE || errorNumber == ENFILE)
    {
        words += ": close sockets, or spread the nodes over more guests (SetGuests())";
    }
    else if (errorNumber == EPROTONOSUPPORT || errorNumber == ESOCKTNOSUPPORT)
    {
        words += ": is its kernel built with it?";
    }
    throw viaduct::Error(words);
}

void
KernelSocketCore::OnFailed(Code code, int errorNumber)
{
    NS_LOG_FUNCTION(this << static_cast<int>(code) << errorNumber);
    m_answer = errorNumber;
    m_errno = kernelsocket::ToSocketErrno(errorNumber);
    if (code == Code::kOpenSocket)
    {
        RefuseToOpen(errorNumber);
    }
    if (code == Code::kConnect && m_state == CONNECTING)
    {
        m_state = OPEN;
        m_user.ConnectionFailed();
    }
}

} // namespace ns3
