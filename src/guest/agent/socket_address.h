// Conversion between endpoints of the agent's protocol and socket addresses of the kernel.
#pragma once

#include <sys/socket.h>

#include "guest/agent/agent_protocol.h"

namespace viaduct::guest::agent {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = sizeof(sockaddr_storage);
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

// Converts an endpoint; throws ProtocolError for an address family that is neither IPv4 nor IPv6.
SocketAddress ToSocketAddress(const Endpoint& endpoint);
// Converts a socket address; returns an endpoint of family AF_UNSPEC if the kernel returned no IP
// address.
Endpoint FromSocketAddress(const SocketAddress& address);

}  // namespace viaduct::guest::agent
