/*
 * SPDX-License-Identifier: GPL-2.0-only
 */

#ifndef VIADUCT_KERNEL_SOCKET_ADDRESS_H
#define VIADUCT_KERNEL_SOCKET_ADDRESS_H

#include "ns3/address.h"
#include "ns3/socket.h"

#include "guest/agent/agent_protocol.h"

#include <optional>

/**
 * @file
 * @ingroup viaduct
 * Conversions between ns-3's and the kernel's socket addresses and errors.
 */

namespace ns3::kernelsocket
{

/**
 * @param address InetSocketAddress, Inet6SocketAddress, Ipv4Address or Ipv6Address
 * @return the same for the agent; nothing for an address of another type
 */
std::optional<viaduct::guest::agent::Endpoint> ToEndpoint(const Address& address);

/**
 * @param endpoint from the agent
 * @return InetSocketAddress or Inet6SocketAddress; an invalid address for none
 */
Address FromEndpoint(const viaduct::guest::agent::Endpoint& endpoint);

/**
 * @param errorNumber errno of the kernel
 * @return ns-3's closest equivalent
 */
Socket::SocketErrno ToSocketErrno(int errorNumber);

} // namespace ns3::kernelsocket

#endif /* VIADUCT_KERNEL_SOCKET_ADDRESS_H */
