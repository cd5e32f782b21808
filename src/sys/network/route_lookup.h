// What the kernel of a namespace would do with packets for one destination.
#pragma once

#include <optional>

#include "sys/network/link.h"
#include "wire/address.h"

namespace viaduct::sys {

// A route by which packets leave unchanged and all alike: one next hop, no metrics, no
// encapsulation.
struct SimpleRoute {
  int ifindex = 0;
  wire::IpAddress next_hop;  // the gateway, or the destination itself
};

// The route that the kernel finds (RTM_F_FIB_MATCH), if it is a simple one; not for what is local.
std::optional<SimpleRoute> FindSimpleRoute(Netlink& session, const wire::IpAddress& destination);

// The address that frames for a neighbour get; nothing if the kernel does not know it (yet).
std::optional<wire::MacAddress> FindNeighbour(Netlink& session, int ifindex,
                                              const wire::IpAddress& address);

// Whether the destination alone decides on routes: there are no rules but those of a new namespace.
bool HasDefaultRules(Netlink& session, wire::Family family);

}  // namespace viaduct::sys
