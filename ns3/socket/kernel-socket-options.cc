/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#include "ns3/socket/kernel-socket-core.h"

#include "ns3/socket/kernel-socket-address.h"
#include "ns3/socket/kernel-socket-stack.h"

#include "ns3/abort.h"
#include "ns3/net-device.h"

#include <algorithm>
#include <cerrno>
#include <netinet/in.h>
#include <sys/socket.h>
#include <utility>

namespace ns3
{

namespace agent = viaduct::guest::agent;
using agent::BytesOf;

namespace
{

constexpr int DEFAULT_HOPS = 64; //!< default hop limit of ns-3, and of kernels except for groups

// Returns the hop limit in a packet's tag, which routing protocols and Radvd add; -1: the packet
// has no tag.
int
HopLimitOf(Ptr<const Packet> packet)
{
    SocketIpv6HopLimitTag hopLimit;
    SocketIpTtlTag ttl;
    if (packet->PeekPacketTag(hopLimit))
    {
        return hopLimit.GetHopLimit();
    }
    return packet->PeekPacketTag(ttl) ? ttl.GetTtl() : -1;
}

// Returns the value that an option has in a new socket of the kernel, for the options that
// SyncOption() sets.
int
KernelDefault(int level, int name)
{
    if ((level == IPPROTO_IP && name == IP_TTL) ||
        (level == IPPROTO_IPV6 && name == IPV6_UNICAST_HOPS))
    {
        return -1;
    }
    const bool group =
        level == IPPROTO_IP
            ? name == IP_MULTICAST_TTL || name == IP_MULTICAST_LOOP
            : level == IPPROTO_IPV6 && (name == IPV6_MULTICAST_HOPS || name == IPV6_MULTICAST_LOOP);
    return group ? 1 : 0;
}

// Returns a hop limit, or -1 for the kernel's default: a hop limit of 0 means "not set" both in
// ns-3 and in the kernel.
int
OrDefault(uint8_t hopLimit)
{
    return hopLimit == 0 ? -1 : hopLimit;
}

} // namespace

// Copies to the kernel's socket the settings that ns-3's Socket keeps in members. ns-3's Socket
// changes these members without a notification.
void
KernelSocketCore::SyncOptions(Ptr<const Packet> packet, const Endpoint* to)
{
    const bool ipv6 = IsIpv6();
    const int tagged = packet ? HopLimitOf(packet) : -1;
    SyncOption(SOL_SOCKET, SO_PRIORITY, m_socket.GetPriority());
    // The metadata of datagrams is always requested, because OLSR, RIP and further protocols
    // request the metadata only when the socket is already bound, and some protocols never send
    // through the socket.
    const int datagrams = m_kind.connects ? 0 : 1;
    if (datagrams != 0)
    {
        SyncOption(ipv6 ? IPPROTO_IPV6 : IPPROTO_IP, ipv6 ? IPV6_RECVPKTINFO : IP_PKTINFO, 1);
    }
    if (ipv6)
    {
        SyncOption(IPPROTO_IPV6,
                   IPV6_TCLASS,
                   (m_socket.*&Inside::IsManualIpv6Tclass)() ? m_socket.GetIpv6Tclass() : 0);
        const int own = (m_socket.*&Inside::IsManualIpv6HopLimit)()
                            ? OrDefault(m_socket.GetIpv6HopLimit())
                            : -1;
        SyncOption(IPPROTO_IPV6, IPV6_UNICAST_HOPS, tagged >= 0 ? tagged : own);
        SyncOption(IPPROTO_IPV6, IPV6_RECVTCLASS, m_socket.IsIpv6RecvTclass() ? 1 : datagrams);
        SyncOption(IPPROTO_IPV6, IPV6_RECVHOPLIMIT, m_socket.IsIpv6RecvHopLimit() ? 1 : datagrams);
    }
    else
    {
        SyncOption(IPPROTO_IP, IP_TOS, m_socket.GetIpTos());
        const int own = (m_socket.*&Inside::IsManualIpTtl)() ? OrDefault(m_socket.GetIpTtl()) : -1;
        SyncOption(IPPROTO_IP, IP_TTL, tagged >= 0 ? tagged : own);
        SyncOption(IPPROTO_IP, IP_RECVTOS, m_socket.IsIpRecvTos() ? 1 : datagrams);
        SyncOption(IPPROTO_IP, IP_RECVTTL, m_socket.IsIpRecvTtl() ? 1 : datagrams);
    }
    if (to != nullptr && kernelsocket::IsGroup(*to))
    {
        SyncGroupOptions(tagged);
    }
}

// Sets the options for packets to groups. Options that the application has not set get ns-3's
// defaults. A kernel's defaults differ: one hop, and members on the node itself receive the
// packets, too.
void
KernelSocketCore::SyncGroupOptions(int tagged)
{
    const bool ipv6 = IsIpv6();
    const int level = ipv6 ? IPPROTO_IPV6 : IPPROTO_IP;
    const int other = tagged >= 0 ? tagged : DEFAULT_HOPS;
    SyncOption(level,
               ipv6 ? IPV6_MULTICAST_HOPS : IP_MULTICAST_TTL,
               m_groups.hops != 0 ? m_groups.hops : other);
    SyncOption(level, ipv6 ? IPV6_MULTICAST_LOOP : IP_MULTICAST_LOOP, m_groups.loop ? 1 : 0);
    const int32_t interface = std::max(m_groups.interface, 0);
    if (std::exchange(m_groupInterface, interface) == interface)
    {
        return;
    }
    SetSockOptLate(
        level, ipv6 ? IPV6_MULTICAST_IF : IP_MULTICAST_IF, [node = m_node, interface, ipv6] {
            const int index =
                interface == 0
                    ? 0
                    : kernelsocket::InterfaceIndex(node, static_cast<uint32_t>(interface), ipv6);
            ip_mreqn request{};
            request.imr_ifindex = index;
            const auto bytes = ipv6 ? BytesOf(index) : BytesOf(request);
            return std::vector<std::byte>(bytes.begin(), bytes.end());
        });
}

void
KernelSocketCore::SyncOption(int level, int name, int value)
{
    const auto [known, added] = m_synced.try_emplace({level, name}, KernelDefault(level, name));
    if (known->second != value)
    {
        known->second = value;
        SetSockOpt(level, name, value);
    }
}

int
KernelSocketCore::SetSockOptLate(int level, int name, LateValue value)
{
    const Option option{level, name, std::move(value)};
    if (m_state == UNOPENED)
    {
        m_options.push_back(option);
    }
    else if (m_state != CLOSED)
    {
        TellOption(option);
    }
    return 0;
}

void
KernelSocketCore::TellOption(const Option& option)
{
    if (!m_stack->HasAgent())
    {
        return;
    }
    m_stack->GetAgent().TellLate(agent::Code::kSetOption, m_number, [option] {
        const agent::SocketOption header{option.level, option.name};
        const auto front = BytesOf(header);
        std::vector<std::byte> bytes(front.begin(), front.end());
        const std::vector<std::byte> value = option.value();
        bytes.insert(bytes.end(), value.begin(), value.end());
        return bytes;
    });
}

int
KernelSocketCore::SetSockOpt(int level, int name, std::span<const std::byte> value)
{
    return SetSockOptLate(
        level, name, [bytes = std::vector<std::byte>(value.begin(), value.end())] {
            return bytes;
        });
}

int
KernelSocketCore::SetSockOpt(int level, int name, int value)
{
    return SetSockOpt(level, name, BytesOf(value));
}

void
KernelSocketCore::SetSendBuffer(uint32_t bytes)
{
    if (std::exchange(m_sendBuffer, bytes) != bytes)
    {
        SetSockOpt(SOL_SOCKET, SO_SNDBUF, static_cast<int>(bytes));
    }
}

void
KernelSocketCore::SetReceiveBuffer(uint32_t bytes)
{
    if (std::exchange(m_receiveBuffer, bytes) != bytes)
    {
        SetSockOpt(SOL_SOCKET, SO_RCVBUF, static_cast<int>(bytes));
    }
}

// Does nothing for connection-oriented sockets, which have no broadcasts.
bool
KernelSocketCore::SetAllowBroadcast(bool allow)
{
    if (m_kind.connects)
    {
        return !allow;
    }
    m_broadcast = allow;
    SetSockOpt(SOL_SOCKET, SO_BROADCAST, allow ? 1 : 0);
    return true;
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

void
KernelSocketCore::BindToNetDevice(Ptr<NetDevice> device)
{
    m_device = device;
    if (m_claimed)
    {
        m_stack->Unclaim(m_number);
        Claim(*m_claimed);
    }
    SetSockOptLate(SOL_SOCKET, SO_BINDTODEVICE, [stack = m_stack, device] {
        const std::string name = device ? stack->GetInterfaceName(device) : "";
        NS_ABORT_MSG_IF(device && name.empty(),
                        "a kernel socket was bound to a device that the node's kernel does not "
                        "have");
        const auto bytes = BytesOf(std::string_view(name));
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    });
}

void
KernelSocketCore::OnOption(const agent::SocketOption&, std::span<const std::byte> value)
{
    m_option.emplace(value.begin(), value.end());
}

} // namespace ns3
