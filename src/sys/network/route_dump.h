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
  // The next hops that the kernel uses: neither dead nor without a carrier where that counts. Empty
  // for types that send nowhere.
  std::vector<RouteHop> hops;
};

// Returns all routes of both families, of all tables, without those that the kernel cached. Throws
// SystemError.
std::vector<DumpedRoute> DumpRoutes(NetlinkSocket& socket);

// Returns the route by which packets for a destination leave (RTM_F_FIB_MATCH), with all its next
// hops; a local one for the namespace's own addresses; nothing if there is no route, or one that
// refuses. Throws SystemError.
std::optional<DumpedRoute> LookUpRoute(NetlinkSocket& socket, const wire::IpAddress& destination);

}  // namespace viaduct::sys
