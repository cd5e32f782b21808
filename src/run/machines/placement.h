// Distributes the nodes of a lab among its machines.
#pragma once

#include "scenario/scenario.h"

namespace viaduct::machines {

// Assigns a machine to each node without `on_machine`, so that all machines have about the same
// number of nodes and the sum of the rates of the links between machines is small (METIS; a link
// without a rate counts as one of 10 Gbit/s). Nodes of a shared link stay together. Throws
// UsageError if a machine has no node in the end, and EnvironmentError if this build has no METIS
// and some node has no machine.
void PlaceNodes(scenario::Scenario& scenario);

// The sum of the rates of the links between machines, bit/s, both directions.
double CutRate(const scenario::Scenario& scenario);

}  // namespace viaduct::machines
