// The pairs of nodes between which routes must exist before a run begins.
#pragma once

#include <cstddef>
#include <vector>

#include "scenario/scenario.h"

namespace viaduct::scenario {

// Identifies nodes by their index in the scenario.
class AwaitedRoutes {
 public:
  explicit AwaitedRoutes(const Scenario& scenario);

  // Returns whether the run waits for the route between two nodes. It does not wait for routes
  // between nodes that are connected only through nodes whose routes programs make (`routing:
  // none`), because the programs start after the wait; nor for routes from or to such nodes, except
  // between them and the hosts whose gateway they are.
  bool IsAwaited(size_t from, size_t to) const {
    return from != to && (areas_[from] == areas_[to] || parts_[from] != parts_[to]);
  }

 private:
  // The connected part of each node in the network, indexed by node.
  std::vector<size_t> parts_;
  // The connected part of each node in the network without nodes whose routes programs make.
  std::vector<size_t> areas_;
};

}  // namespace viaduct::scenario
