// For tests of routes: creates one in a single line.
#pragma once

#include <string>

#include "plane/fib/route.h"

namespace viaduct::fib::test {

// "" for `gateway` means none, of the destination's family.
inline Route MakeRoute(const std::string& destination, const std::string& gateway,
                       uint32_t metric = 0, const std::string& interface = "eth0") {
  Route route{wire::IpPrefix::Parse(destination), {}, metric};
  NextHop hop{{route.destination.address.family, {}}, interface};
  if (!gateway.empty()) hop.gateway = wire::IpAddress::Parse(gateway);
  route.next_hops.push_back(hop);
  return route;
}

}  // namespace viaduct::fib::test
