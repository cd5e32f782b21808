// Reads a namespace's routes (rtnetlink(7), RTM_GETROUTE).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/wire/address.h"
#include "sys/network/netlink.h"
#include "sys/network/route_request.h"

namespace viaduct::sys {

struct DumpedRoute {
  wire::IpPrefix destination;
  uint8_t type = 0;  // RTN_UNICAST, RTN_LOCAL...
  uint8_t protocol = 0;
  uint32_t table = 0;  // RT_TABLE_MAIN, RT_TABLE_LOCAL...
  uint32_t metric = 0;
  // The next hops that the kernel uses. Next hops that are dead are left out; so are, if the kernel
  // considers the carrier, next hops without a carrier. Empty for types of routes that send
  // nowhere.
  std::vector<RouteHop> hops;
};

// Returns all routes of both families in all tables, except cached routes. Throws SystemError.
std::vector<DumpedRoute> DumpRoutes(NetlinkSocket& socket);

// Returns the route that the kernel uses for packets to a destination (RTM_F_FIB_MATCH), with all
// its next hops; for an address of the namespace, returns the local route. Returns nothing if there
// is no route, or only a route that refuses the packets. Throws SystemError.
std::optional<DumpedRoute> LookUpRoute(NetlinkSocket& socket, const wire::IpAddress& destination);

}  // namespace viaduct::sys
