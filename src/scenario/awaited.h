// Between which nodes routes are waited for before a run begins.
#pragma once

#include <cstddef>
#include <vector>

#include "scenario/scenario.h"

namespace viaduct::scenario {

// Nodes are numbered in the scenario's order.
class AwaitedRoutes {
 public:
  explicit AwaitedRoutes(const Scenario& scenario);

  // Not between nodes that are connected only by such whose routes programs make (`routing: none`):
  // the programs start after the wait. Nor from or to these, but for their own hosts.
  bool IsAwaited(size_t from, size_t to) const {
    return from != to && (areas_[from] == areas_[to] || parts_[from] != parts_[to]);
  }

 private:
  std::vector<size_t> parts_;  // connected parts of the network, by node
  std::vector<size_t> areas_;  // the same without the nodes whose routes programs make
};

}  // namespace viaduct::scenario
