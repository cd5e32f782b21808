// Traffic to multicast groups: static multicast routes, and flows with several receivers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scenario/links.h"
#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// Reads `multicast` of the file; the nodes, links and mode of the scenario must have been read.
// Throws UsageError.
std::vector<MulticastRoute> ReadMulticast(const Section& file, const NameTable& nodes,
                                          const NameTable& links, const Scenario& scenario);

// Checks the group of a flow, and sets the link by which the flow is sent. Must be called when
// everything else of the flow has been read and the scenario contains the flows before it. Throws
// UsageError.
void ReadGroup(const Section& section, const NameTable& links, const Scenario& scenario,
               Flow& flow);

// Returns the index of the flow that sends the packets of the flow with this index: the first flow
// of the same sender to the same group; `index` itself for a flow with one receiver.
size_t StreamOf(const Scenario& scenario, size_t index);

}  // namespace viaduct::scenario
