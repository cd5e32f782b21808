// The treatment of packets for one destination by the kernel of a namespace.
#pragma once

#include <cstdint>
#include <optional>

#include "base/wire/address.h"
#include "sys/network/link.h"

namespace viaduct::sys {

// A route by which packets leave unchanged and all alike: one next hop, no metrics, no
// encapsulation.
struct SimpleRoute {
  int ifindex = 0;
  wire::IpAddress next_hop;  // the gateway, or the destination itself
};

// Returns the route that the kernel finds (RTM_F_FIB_MATCH) for packets with this TOS (IPv4,
// without the ECN bits), if it is a simple one and not a local one.
std::optional<SimpleRoute> FindSimpleRoute(Netlink& session, const wire::IpAddress& destination,
                                           uint8_t tos);

// Whether an exception to the kernel's routes (a path MTU that it received, a redirect) holds for
// packets with this destination.
bool HasException(Netlink& session, const wire::IpAddress& destination);

// Returns the number of exceptions to the namespace's IPv6 routes (fib_rt_cache of
// /proc/net/rt6_stats).
uint64_t CountExceptions(int namespace_fd);

// Returns the MAC address for frames to a neighbour; nothing if the kernel does not know it (yet).
std::optional<wire::MacAddress> FindNeighbour(Netlink& session, int ifindex,
                                              const wire::IpAddress& address);

// Whether the destination alone decides on routes: there are no rules except those of a new
// namespace.
bool HasDefaultRules(Netlink& session, wire::Family family);

// Whether the namespace may do more to packets than its routes require: it has nftables, or IPsec
// policies.
bool HasPacketRules(int namespace_fd);

}  // namespace viaduct::sys
