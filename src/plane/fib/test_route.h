// A function that creates a route in a single line, for tests.
#pragma once

#include <string>

#include "plane/fib/route.h"

namespace viaduct::fib::test {

// Returns a route through one next hop; if `gateway` is "", the destination is on link.
inline Route MakeRoute(const std::string& destination, const std::string& gateway,
                       uint32_t metric = 0, const std::string& interface = "eth0") {
  Route route{wire::IpPrefix::Parse(destination), {}, metric};
  NextHop hop{{route.destination.address.family, {}}, interface};
  if (!gateway.empty()) hop.gateway = wire::IpAddress::Parse(gateway);
  route.next_hops.push_back(hop);
  return route;
}

}  // namespace viaduct::fib::test
