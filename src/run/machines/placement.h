// Distributes the nodes of a lab among its machines.
#pragma once

#include "scenario/scenario.h"

namespace viaduct::machines {

// Assigns a machine to each node without `on_machine`, so that all machines have about the same
// number of nodes and the sum of the rates of the links between machines is small (METIS; a link
// without a rate counts as one of 10 Gbit/s). All nodes of a shared link get the same machine.
// Throws UsageError if a machine has no node in the end, and EnvironmentError if this build has no
// METIS and some node has no machine.
void PlaceNodes(scenario::Scenario& scenario);

// Returns the sum of the rates of the links between machines, in bit/s, of both directions.
double CutRate(const scenario::Scenario& scenario);

}  // namespace viaduct::machines
