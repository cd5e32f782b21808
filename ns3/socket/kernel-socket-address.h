/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_SOCKET_ADDRESS_H
#define VIADUCT_KERNEL_SOCKET_ADDRESS_H

#include "ns3/address.h"
#include "ns3/node.h"
#include "ns3/ptr.h"
#include "ns3/socket.h"

#include "guest/agent/agent_protocol.h"

#include <cstdint>
#include <optional>

/**
 * @file
 * @ingroup viaduct
 * Conversions between ns-3's and the kernel's socket addresses, interfaces and errors.
 */

namespace ns3::kernelsocket
{

/**
 * @param address InetSocketAddress, Inet6SocketAddress, Ipv4Address or Ipv6Address
 * @return the address in the agent's format; nothing for an address of another type
 */
std::optional<viaduct::guest::agent::Endpoint> ToEndpoint(const Address& address);

/**
 * @param endpoint an address from the agent
 * @return InetSocketAddress or Inet6SocketAddress; an invalid Address if the endpoint has no
 * address
 */
Address FromEndpoint(const viaduct::guest::agent::Endpoint& endpoint);

/**
 * @param errorNumber errno of the kernel
 * @return the closest equivalent among ns-3's socket errors
 */
Socket::SocketErrno ToSocketErrno(int errorNumber);

/**
 * @param endpoint an address
 * @return whether the address is that of a multicast group
 */
bool IsGroup(const viaduct::guest::agent::Endpoint& endpoint);

/**
 * @param node a node whose stack is a kernel
 * @param interface an interface number of the node's Ipv4 or Ipv6 object
 * @param ipv6 whether @p interface is a number of the Ipv6 object
 * @return the interface's index in the kernel; 0: the interface has no index in the kernel, or has
 * none yet
 */
int InterfaceIndex(Ptr<Node> node, uint32_t interface, bool ipv6);

} // namespace ns3::kernelsocket

#endif /* VIADUCT_KERNEL_SOCKET_ADDRESS_H */
