// Derives the place of a node's data plane (fib::NodePlace) from the topology.
#pragma once

#include <string>
#include <vector>

#include "lab/topology.h"
#include "plane/fib/data_plane.h"

namespace viaduct::lab {

// Returns the place of a node's data plane. `node` must be in `topology`.
fib::NodePlace PlaceOf(const Topology& topology, const Node& node, int namespace_fd);

}  // namespace viaduct::lab
