// For tests of routes: creates one in a single line.
#pragma once

#include <string>

#include "fib/route.h"

namespace viaduct::fib::test {

// A route through eth0; "" for `gateway` means none.
inline Route MakeRoute(const std::string& destination, const std::string& gateway,
                       uint32_t metric = 0) {
  Route route;
  route.destination = wire::IpPrefix::Parse(destination);
  if (!gateway.empty()) route.gateway = wire::IpAddress::Parse(gateway);
  route.interface = "eth0";
  route.metric = metric;
  return route;
}

}  // namespace viaduct::fib::test
