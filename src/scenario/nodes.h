// Nodes of a scenario, as far as they do not depend on its links.
#pragma once

#include <vector>

#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// Reads `nodes` of the file. Throws UsageError.
std::vector<NodeSettings> ReadNodes(const Section& file);

}  // namespace viaduct::scenario
