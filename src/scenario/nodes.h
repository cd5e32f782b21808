// The nodes of a scenario, with the settings that do not depend on its links.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// The maximum number of nodes in a file.
inline constexpr int64_t kMaxNodes = 2000;

// Reads `nodes` of the file; `protocol` is the routing protocol. Throws UsageError.
std::vector<NodeSettings> ReadNodes(const Section& file, std::string_view protocol);

}  // namespace viaduct::scenario
