// Scenario files of common topologies, with comments: what `viaduct init` writes, and what
// `viaduct run --topo` runs.
#pragma once

#include <string>
#include <vector>

namespace viaduct::scenario {

// The topologies there are: line, ring, grid, star, tree, wifi.
std::vector<std::string> SampleTopologies();

// `topology`: KIND, or KIND,NODES (of a grid: grid,COLUMNSxROWS). `protocol`: that of `routing`.
// `head`: put before the file as it is. Throws UsageError if there is no such topology.
std::string SampleScenario(const std::string& topology, const std::string& protocol = "OLSR",
                           const std::string& head = "");

}  // namespace viaduct::scenario
