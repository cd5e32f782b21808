/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/socket/kernel-socket-address.h"
#include "ns3/socket/kernel-socket-core.h"
#include "ns3/socket/kernel-socket-stack.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <sys/socket.h>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("KernelSocketConnection");

namespace agent = viaduct::guest::agent;
using agent::BytesOf;

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
    m_stack->UpdateRoutes();
    m_peer = kernelsocket::ToEndpoint(address);
    m_state = CONNECTING;
    TellWithScope(Code::kConnect, *m_peer);
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
    const agent::Listen request{backlog, 0, m_receiveBuffer};
    Tell(Code::kListen, {BytesOf(request)});
    return 0;
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
    (m_socket.*&Inside::NotifyConnectionSucceeded)();
    if (m_state == CONNECTED)
    {
        NotifySpace();
    }
}

void
KernelSocketCore::OnAccepted(const agent::Accepted& accepted)
{
    const Address from = kernelsocket::FromEndpoint(accepted.peer);
    if (m_closing || !(m_socket.*&Inside::NotifyConnectionRequest)(from))
    {
        m_stack->GetAgent().Tell(Code::kClose, accepted.socket, {}, agent::kAbort);
        return;
    }
    const auto [socket, core] = m_fork();
    core->BecomeAccepted(*this, accepted);
    m_stack->Keep(accepted.socket, socket);
    (m_socket.*&Inside::NotifyNewConnectionCreated)(socket, from);
    if (core->m_state == CONNECTED)
    {
        core->NotifySpace();
    }
}

void
KernelSocketCore::BecomeAccepted(const KernelSocketCore& listener, const agent::Accepted& accepted)
{
    m_node = listener.m_node;
    m_stack = listener.m_stack;
    m_kind = listener.m_kind;
    m_family = listener.m_family;
    m_synced = listener.m_synced; // the kernel copies a listener's options to accepted sockets
    m_shutdownSend = listener.m_shutdownSend;
    m_shutdownRecv = listener.m_shutdownRecv;
    m_sendBuffer = listener.m_sendBuffer;
    m_receiveBuffer = listener.m_receiveBuffer;
    m_bound = true;
    m_state = CONNECTED;
    m_number = accepted.socket;
    m_local = accepted.local;
    m_peer = accepted.peer;
    m_stack->GetAgent().Attach(m_number, this);
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

// Closes the socket. For a connection, Close() ends only the sending direction, as in ns-3; when
// the peer ends its sending direction, too, the kernel's socket is closed and the application is
// notified. A connection with data that the application has not read is reset.
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
        (m_socket.*&Inside::NotifyNormalClose)();
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
    // Release() runs in a separate event, because it may release the last reference to the ns-3
    // socket that owns this core.
    Simulator::ScheduleNow(&KernelSocketStack::Release, m_stack, m_number);
    m_number = 0;
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
        Close(); // both directions have ended: the socket is closed, as in ns-3's TCP
    }
}

void
KernelSocketCore::OnBroken(int errorNumber)
{
    NS_LOG_FUNCTION(this << errorNumber);
    m_errno = kernelsocket::ToSocketErrno(errorNumber);
    if (!m_kind.connects)
    {
        return; // the error concerns one datagram (ICMP): the next datagram may arrive
    }
    m_ended = true;
    m_closing = true;
    CloseInKernel(false);
    if (!std::exchange(m_closeNotified, true))
    {
        (m_socket.*&Inside::NotifyErrorClose)();
    }
}

} // namespace ns3
