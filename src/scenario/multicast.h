// Traffic to groups: static multicast routes, and flows with several receivers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scenario/links.h"
#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// Reads `multicast` of the file; the nodes, links and mode of the scenario are known. Throws
// UsageError.
std::vector<MulticastRoute> ReadMulticast(const Section& file, const NameTable& nodes,
                                          const NameTable& links, const Scenario& scenario);

// Checks the group of a flow, to be called when everything else of the flow is known and those
// before it are in the scenario, and sets the link that it is sent by. Throws UsageError.
void ReadGroup(const Section& section, const NameTable& links, const Scenario& scenario,
               Flow& flow);

// Returns the flow that sends the packets of the flow with this index: the first of the same sender
// and group. The flow itself, if it has one receiver.
size_t StreamOf(const Scenario& scenario, size_t index);

}  // namespace viaduct::scenario
