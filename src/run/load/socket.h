// The UDP sockets of viaduct-load.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace viaduct::load {

// An IPv4 or IPv6 address and port in the kernel's form.
struct Endpoint {
  sockaddr_storage address{};
  socklen_t length = 0;
  int family() const { return address.ss_family; }
};

// Parses "10.0.0.1:5001" or "[2001:db8::1]:5001", numeric only. Throws UsageError.
Endpoint ParseEndpoint(std::string_view text);
// Returns the endpoint of a numeric address and a port. Throws UsageError.
Endpoint MakeEndpoint(const std::string& address, uint16_t port);

// Whether the address is a multicast address.
bool IsGroup(const Endpoint& endpoint);

// Opens a UDP socket for packets to `to`, not yet connected. Binds the socket to the address
// `bind`, unless `bind` is empty. Packets to a multicast group are sent through `interface`, or
// through the interface of the route if `interface` is empty, with a TTL of 64. Throws SystemError,
// also if there is no such interface.
UniqueFd OpenSender(const Endpoint& to, const std::string& bind, const std::string& interface);
// Connects the socket. Returns 0, or the errno if `to` is unreachable now (no route, link down) but
// may be reachable later. Throws SystemError for any other error.
int TryConnect(int fd, const Endpoint& to);

struct ReceiverSocketOptions {
  uint16_t port = 0;
  std::string bind = {};  // the address to bind to; empty: all addresses, IPv4 and IPv6
  // A multicast group that the socket joins and is bound to; empty: none.
  std::string group = {};
  // The interface on which the socket joins the group; empty: all interfaces. A kernel that
  // forwards the group's packets delivers them twice to a program that has joined the group also on
  // an outgoing interface.
  std::string interface = {};
  // The interval of sampling. 1: the program receives every packet. N (a power of two): the program
  // receives one data packet in N; the kernel counts and drops the other data packets, which causes
  // no wake-up.
  uint32_t sample = 1;
};
// Opens a bound socket with a large receive buffer and a receive timeout of 20 ms.
UniqueFd OpenReceiver(const ReceiverSocketOptions& options);
// Returns the number of packets that the kernel has dropped at the socket so far, because the
// socket's buffer was full or by the sampling filter.
uint32_t SocketDrops(int fd);

}  // namespace viaduct::load
