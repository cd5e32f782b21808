// Scenario files of common topologies, with comments: `viaduct init` writes them, and `viaduct run
// --topo` runs them.
#pragma once

#include <string>
#include <vector>

namespace viaduct::scenario {

// Returns the names of the topologies: line, ring, grid, star, tree, wifi.
std::vector<std::string> SampleTopologies();

// Returns the text of a scenario file. `topology`: KIND, or KIND,NODES (for a grid:
// grid,COLUMNSxROWS). `protocol`: the value of `routing`. `head`: text that is put before the file
// unchanged. Throws UsageError if there is no such topology.
std::string SampleScenario(const std::string& topology, const std::string& protocol = "OLSR",
                           const std::string& head = "");

}  // namespace viaduct::scenario
