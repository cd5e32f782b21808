// Forwarding table entries, and the difference between two tables.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/wire/address.h"

namespace viaduct::fib {

struct NextHop {
  wire::IpAddress gateway;  // address of the gateway; unspecified: the destination is on link
  std::string interface;    // name of the outgoing interface in the node's namespace
  friend auto operator<=>(const NextHop&, const NextHop&) = default;
};

// A node's routing tables, in the order of their lookup (ip-rule(8)): the first table that has a
// route for a packet decides, even if the next table has a route to a smaller network.
enum class Table : uint8_t {
  kPreferred,  // looked up before the connected networks
  kMain,       // the table of the connected networks: the longest prefix of all its routes decides
};

// A unicast route. Its key is (destination, metric, table), as in the kernel's FIB.
struct Route {
  wire::IpPrefix destination;  // network; host bits zero
  // The next hops, at least one, in ascending order and all different. Flows are spread over
  // several next hops (equal-cost multipath, RFC 2992).
  std::vector<NextHop> next_hops;
  uint32_t metric = 0;
  Table table = Table::kMain;
  friend auto operator<=>(const Route&, const Route&) = default;
};

struct RouteKey {
  wire::IpPrefix destination;
  uint32_t metric = 0;
  Table table = Table::kMain;
  friend auto operator<=>(const RouteKey&, const RouteKey&) = default;
};

inline RouteKey KeyOf(const Route& route) { return {route.destination, route.metric, route.table}; }

using RouteTable = std::map<RouteKey, Route>;

// The changes that turn one table into another. They are applied in the order replace, add, remove,
// so that a destination that both tables reach is reachable at any time.
struct RouteChanges {
  std::vector<Route> replaced;  // same key, other next hop: NLM_F_REPLACE, atomic in the kernel
  std::vector<Route> added;
  std::vector<Route> removed;
  bool empty() const { return replaced.empty() && added.empty() && removed.empty(); }
  size_t size() const { return replaced.size() + added.size() + removed.size(); }
};

// Returns a route in the format of `ip route`: "10.0.0.0/24 via 10.1.0.2 dev eth0 metric 20"; with
// several next hops, "10.0.0.0/24 nexthop via 10.1.0.2 dev eth0 nexthop via 10.2.0.2 dev eth1".
std::string ToString(const Route& route);

RouteChanges Difference(const RouteTable& from, const RouteTable& to);

}  // namespace viaduct::fib
