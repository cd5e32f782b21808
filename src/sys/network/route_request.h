// Builder of all route requests of rtnetlink(7).
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
  kDelete,   // only a route of the same protocol
};

// A next hop of a route's packets.
struct RouteHop {
  std::optional<wire::IpAddress> gateway = std::nullopt;  // absent: destination on the link
  int ifindex = 0;  // 0: the kernel finds it by the gateway (only if it is the route's one hop)
};

// A unicast route of one namespace.
struct RouteEntry {
  wire::IpPrefix destination;  // host bits zero
  // Several hops: a multipath route, over which the kernel spreads flows in equal parts
  // (RTA_MULTIPATH). No hops, for a removal: a route with any hops.
  std::vector<RouteHop> hops;
  uint32_t metric = 0;
  uint32_t table = 0;  // 0: main
  uint8_t protocol = RTPROT_STATIC;
  // True: gateways count as neighbours on their interfaces, whether or not a prefix of these covers
  // them (RTNH_F_ONLINK). Only with an interface.
  bool is_on_link = true;
};

NetlinkMessage RouteRequest(RouteAction action, const RouteEntry& route);

}  // namespace viaduct::sys
