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
  wire::IpAddress gateway;  // unspecified: on link
  std::string interface;    // outgoing, by its name in the node's namespace
  friend auto operator<=>(const NextHop&, const NextHop&) = default;
};

// A node's routing tables, in the order of their lookup (ip-rule(8)): the first that has a route
// for a packet decides, even if the next has one to a smaller network.
enum class Table : uint8_t {
  kPreferred,  // before the connected networks
  kMain,       // the table of the connected networks: the longest prefix of all its routes decides
};

// A unicast route. Identity is (destination, metric, table), as in the kernel's FIB.
struct Route {
  wire::IpPrefix destination;  // network; host bits zero
  // At least one. Several (in ascending order, all different): flows are spread over them
  // (equal-cost multipath, RFC 2992).
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

// The changes that turn one table into another. Applied in the order replace, add, remove, so that
// no destination that both tables reach is unreachable in between.
struct RouteChanges {
  std::vector<Route> replaced;  // same key, other next hop: NLM_F_REPLACE, atomic in the kernel
  std::vector<Route> added;
  std::vector<Route> removed;
  bool empty() const { return replaced.empty() && added.empty() && removed.empty(); }
  size_t size() const { return replaced.size() + added.size() + removed.size(); }
};

// Returns the text of `ip route`: "10.0.0.0/24 via 10.1.0.2 dev eth0 metric 20"; for several next
// hops, "10.0.0.0/24 nexthop via 10.1.0.2 dev eth0 nexthop via 10.2.0.2 dev eth1".
std::string ToString(const Route& route);

RouteChanges Difference(const RouteTable& from, const RouteTable& to);

}  // namespace viaduct::fib
