// Nodes' own addresses: addressing.loopback, nodes.NAME.loopback.
#pragma once

#include <vector>

#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// Returns the prefixes that links must not have: those of addressing.loopback and of nodes' own
// addresses. Throws UsageError naming the place.
std::vector<wire::IpPrefix> LoopbackPrefixes(const Section& file);

// Reads the nodes' own addresses, and gives one of addressing.loopback to the nodes that are no
// hosts and have none of its family. The links have been read. Throws UsageError.
void ReadLoopbacks(const Section& file, Scenario* scenario);

}  // namespace viaduct::scenario
