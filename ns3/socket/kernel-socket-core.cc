/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/socket/kernel-socket-core.h"

#include "ns3/base/path-seed.h"
#include "ns3/socket/host-socket.h"
#include "ns3/socket/kernel-socket-address.h"
#include "ns3/socket/kernel-socket-stack.h"

#include "ns3/abort.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/ipv6.h"
#include "ns3/log.h"
#include "ns3/node.h"

#include "base/error.h"

#include <cerrno>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <utility>

// The functions for connections are in kernel-socket-connection.cc, the functions for sending and
// receiving in kernel-socket-transfer.cc, the functions for options in kernel-socket-options.cc.

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("KernelSocketCore");

namespace agent = viaduct::guest::agent;
using agent::BytesOf;

KernelSocketCore::KernelSocketCore(Socket& socket, const Kind& kind, Fork fork)
    : m_socket(socket), m_kind(kind), m_fork(std::move(fork))
{
}

KernelSocketCore::~KernelSocketCore()
{
    // The stack keeps open sockets alive, so this socket was never opened or is closed, or the
    // simulation has ended.
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
                        "a kernel socket was requested on node "
                            << node->GetId()
                            << ", which has no kernel: install KernelStackHelper on the node, or "
                               "HostSocketHelper for host sockets");
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
    NS_ABORT_MSG_UNLESS(m_stack, "a kernel socket has no node: call SetNode() first");
    m_family = family;
    m_state = OPEN;
    m_number = m_stack->GetAgent().NewSocket(this);
    m_stack->Keep(m_number, &m_socket);
    const agent::OpenSocket request{m_stack->GetNumber(),
                                    static_cast<uint16_t>(family),
                                    static_cast<uint16_t>(m_kind.type),
                                    static_cast<uint32_t>(m_kind.protocol),
                                    0,
                                    m_receiveBuffer};
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
        // In ns-3 sockets may share a port if they differ in address or device, and routing
        // protocols create such sockets. SO_REUSEADDR makes the kernel allow such sockets, too.
        SyncOption(SOL_SOCKET, SO_REUSEADDR, 1);
    }
    m_bound = true;
    m_answer.reset();
    m_bindRequest = TellWithScope(Code::kBind, endpoint);
    // Before the guest has booted, the kernel gives no answer: success is assumed, and GetErrno()
    // returns a failure later.
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

// Returns the device of a link-local address, which belongs to one interface that ns-3's socket
// addresses do not contain. An address of the node itself identifies its device; any other address
// is behind the device that the socket is bound to, or behind the node's only device.
Ptr<NetDevice>
KernelSocketCore::DeviceOf(const Ipv6Address& address) const
{
    const auto ipv6 = m_node->GetObject<Ipv6>();
    const int32_t own = ipv6->GetInterfaceForAddress(address);
    if (own >= 0)
    {
        return ipv6->GetNetDevice(static_cast<uint32_t>(own));
    }
    const bool single = ipv6->GetNInterfaces() == 2; // the loopback interface and one more
    return m_device || !single ? m_device : ipv6->GetNetDevice(1);
}

uint32_t
KernelSocketCore::TellWithScope(Code code, const Endpoint& endpoint)
{
    const Ipv6Address address = Ipv6Address::Deserialize(endpoint.address);
    if (endpoint.family != AF_INET6 || !address.IsLinkLocal() || !m_node->GetObject<Ipv6>() ||
        !m_stack->HasAgent())
    {
        return Tell(code, {BytesOf(endpoint)});
    }
    const auto device = DeviceOf(address);
    return m_stack->GetAgent().TellLate(code, m_number, [=, stack = m_stack] {
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
KernelSocketCore::GetSockName(Address& address) const
{
    if (!m_local && m_bindRequest != 0 && m_state != CLOSED)
    {
        m_stack->GetAgent().Await(m_bindRequest);
    }
    if (m_local)
    {
        address = kernelsocket::FromEndpoint(*m_local);
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
    address = kernelsocket::FromEndpoint(*m_peer);
    return 0;
}

void
KernelSocketCore::OnBound(const Endpoint& local)
{
    m_local = local;
}

void
KernelSocketCore::RefuseToOpen(int errorNumber) const
{
    const bool guest = m_node->GetObject<HostTcpSocketFactory>() == nullptr;
    std::string words = guest ? "kernel node " : "node ";
    words += LabNodeName(m_node);
    words += ": open a socket of protocol " + std::to_string(m_kind.protocol) + ": ";
    words += std::strerror(errorNumber);
    if (errorNumber == EMFILE || errorNumber == ENFILE)
    {
        words += ": close sockets, or ";
        words += guest ? "spread the nodes over more guests (SetGuests())"
                       : "allow more open files (ulimit -Hn)";
    }
    else if (errorNumber == EPROTONOSUPPORT || errorNumber == ESOCKTNOSUPPORT)
    {
        words += ": is the kernel built with this protocol?";
    }
    throw viaduct::Error(words);
}

void
KernelSocketCore::OnFailed(Code code, int errorNumber)
{
    NS_LOG_FUNCTION(this << static_cast<int>(code) << errorNumber);
    m_answer = errorNumber;
    m_errno = kernelsocket::ToSocketErrno(errorNumber);
    m_refused = m_refused || code == Code::kSend;
    if (code == Code::kOpenSocket)
    {
        RefuseToOpen(errorNumber);
    }
    if (code == Code::kConnect && m_state == CONNECTING)
    {
        m_state = OPEN;
        (m_socket.*&Inside::NotifyConnectionFailed)();
    }
    if (code == Code::kSend && m_kind.stream && m_state == CONNECTED)
    {
        OnBroken(errorNumber); // bytes are lost, and the kernel will not report the reset again
    }
}

} // namespace ns3
