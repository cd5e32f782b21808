#include "plane/fib/route.h"

#include <fmt/format.h>

namespace viaduct::fib {

RouteChanges Difference(const RouteTable& from, const RouteTable& to) {
  RouteChanges changes;
  auto old_entry = from.begin();
  auto new_entry = to.begin();
  while (old_entry != from.end() || new_entry != to.end()) {
    if (new_entry == to.end() || (old_entry != from.end() && old_entry->first < new_entry->first)) {
      changes.removed.push_back((old_entry++)->second);
    } else if (old_entry == from.end() || new_entry->first < old_entry->first) {
      changes.added.push_back((new_entry++)->second);
    } else {
      if (old_entry->second != new_entry->second) changes.replaced.push_back(new_entry->second);
      ++old_entry;
      ++new_entry;
    }
  }
  return changes;
}

std::string ToString(const Route& route) {
  std::string text = route.destination.ToString();
  for (const NextHop& hop : route.next_hops) {
    if (route.next_hops.size() > 1) text += " nexthop";
    if (!hop.gateway.IsUnspecified()) text += " via " + hop.gateway.ToString();
    text += " dev " + hop.interface;
  }
  if (route.metric != 0) text += fmt::format(" metric {}", route.metric);
  if (route.table == Table::kPreferred) text += " (preferred over the connected networks)";
  return text;
}

}  // namespace viaduct::fib
