// Distributes the nodes of a lab among its hosts.
#pragma once

#include "scenario/scenario.h"

namespace viaduct::machines {

// Assigns a host to each node without `on_machine`, so that all hosts have about the same number of
// nodes and the sum of the rates of the links between hosts is small (METIS; a link without a rate
// counts as one of 10 Gbit/s). Nodes of a shared link stay together. Throws UsageError if a host
// has no node in the end, and EnvironmentError if this build has no METIS and some node has no
// host.
void PlaceNodes(scenario::Scenario& scenario);

// The sum of the rates of the links between hosts, bit/s, both directions.
double CutRate(const scenario::Scenario& scenario);

}  // namespace viaduct::machines
