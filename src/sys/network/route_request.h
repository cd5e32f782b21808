// Builds all route requests of rtnetlink(7).
#pragma once

#include <linux/rtnetlink.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/wire/address.h"
#include "sys/network/netlink.h"

namespace viaduct::sys {

enum class RouteAction {
  kCreate,   // NLM_F_CREATE | NLM_F_EXCL: never replaces a route
  kReplace,  // NLM_F_CREATE | NLM_F_REPLACE: atomic
  kDelete,   // deletes only a route of the same protocol
};

// A next hop of a route.
struct RouteHop {
  std::optional<wire::IpAddress> gateway = std::nullopt;  // absent: the destination is on the link
  // The ifindex of the next hop; 0: the kernel finds the interface by the gateway (only for a route
  // with one hop).
  int ifindex = 0;
};

// A unicast route of one namespace.
struct RouteEntry {
  wire::IpPrefix destination;  // a prefix whose host bits are zero
  // The next hops. Several hops: a multipath route, over which the kernel spreads flows equally
  // (RTA_MULTIPATH). No hops, for a removal: matches a route with any hops.
  std::vector<RouteHop> hops;
  uint32_t metric = 0;
  uint32_t table = 0;  // 0: the table main
  uint8_t protocol = RTPROT_STATIC;
  // True: gateways count as neighbours on their interfaces, even if no prefix of the interface
  // covers the gateway (RTNH_F_ONLINK). Only for hops with an interface.
  bool is_on_link = true;
};

NetlinkMessage RouteRequest(RouteAction action, const RouteEntry& route);

}  // namespace viaduct::sys
