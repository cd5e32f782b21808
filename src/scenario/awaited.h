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

  // Returns whether the run waits for the route between two nodes. The run does not wait for routes
  // between nodes that are connected only through nodes whose routes are made by programs
  // (`routing: none`), because the programs start after the wait. The run also does not wait for
  // routes from or to a node whose routes are made by programs, except the routes between the node
  // and the hosts that use it as their gateway.
  bool IsAwaited(size_t from, size_t to) const {
    return from != to && (areas_[from] == areas_[to] || parts_[from] != parts_[to]);
  }

 private:
  // The connected part of the network to which each node belongs, indexed by node.
  std::vector<size_t> parts_;
  // The connected part to which each node belongs in the network without the nodes whose routes are
  // made by programs, indexed by node.
  std::vector<size_t> areas_;
};

}  // namespace viaduct::scenario
