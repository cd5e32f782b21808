// The pairs of nodes whose routes are waited for before a run begins.
#pragma once

#include <cstddef>
#include <vector>

#include "scenario/scenario.h"

namespace viaduct::scenario {

// Nodes are numbered in the scenario's order.
class AwaitedRoutes {
 public:
  explicit AwaitedRoutes(const Scenario& scenario);

  // Returns whether the route between two nodes is awaited. Routes are not awaited between nodes
  // that are connected only through nodes whose routes programs make (`routing: none`), because the
  // programs start after the wait; nor from or to these nodes, except for their own hosts.
  bool IsAwaited(size_t from, size_t to) const {
    return from != to && (areas_[from] == areas_[to] || parts_[from] != parts_[to]);
  }

 private:
  std::vector<size_t> parts_;  // connected parts of the network, indexed by node
  std::vector<size_t> areas_;  // parts without nodes whose routes programs make
};

}  // namespace viaduct::scenario
