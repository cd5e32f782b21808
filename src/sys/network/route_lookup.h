// Finds out how the kernel of a namespace treats packets to one destination.
#pragma once

#include <cstdint>
#include <optional>

#include "base/wire/address.h"
#include "sys/network/link.h"

namespace viaduct::sys {

// A route by which all packets leave in the same way and unchanged: one next hop, no metrics, no
// encapsulation.
struct SimpleRoute {
  int ifindex = 0;
  wire::IpAddress next_hop;  // the gateway, or the destination itself
};

// Returns the route that the kernel uses (RTM_F_FIB_MATCH) for packets with this TOS (IPv4, without
// the ECN bits), if it is a simple route and not a local one.
std::optional<SimpleRoute> FindSimpleRoute(Netlink& session, const wire::IpAddress& destination,
                                           uint8_t tos);

// Whether the kernel has an exception to its routes (a path MTU that it received, a redirect) for
// packets to this destination.
bool HasException(Netlink& session, const wire::IpAddress& destination);

// Returns the number of exceptions to the namespace's IPv6 routes (fib_rt_cache of
// /proc/net/rt6_stats).
uint64_t CountExceptions(int namespace_fd);

// Returns the MAC address of a neighbour; nothing if the kernel does not know the address (yet).
std::optional<wire::MacAddress> FindNeighbour(Netlink& session, int ifindex,
                                              const wire::IpAddress& address);

// Whether the destination alone selects the route: there are no rules except those of a new
// namespace.
bool HasDefaultRules(Netlink& session, wire::Family family);

// Whether the kernel may do more to packets in the namespace than its routes require, because the
// namespace has nftables rules or IPsec policies.
bool HasPacketRules(int namespace_fd);

}  // namespace viaduct::sys
