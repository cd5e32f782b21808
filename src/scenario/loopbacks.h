// Loopback addresses of nodes: addressing.loopback, nodes.NAME.loopback.
#pragma once

#include <vector>

#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// Returns the prefixes that links must not use: those of addressing.loopback and those of nodes'
// loopback addresses. Throws UsageError naming the place.
std::vector<wire::IpPrefix> LoopbackPrefixes(const Section& file);

// Reads the loopback addresses of nodes, and assigns an address of addressing.loopback to each node
// that is not a host and has no loopback address of the same family. The links must have been read.
// Throws UsageError.
void ReadLoopbacks(const Section& file, Scenario* scenario);

}  // namespace viaduct::scenario
