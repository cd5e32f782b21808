// Which host of a lab has which node.
#pragma once

#include "scenario/scenario.h"

namespace viaduct::hosts {

// Gives each node without `on_host` one, so that each host has about as many and the rates of the
// links between hosts add up to little (METIS; a link without a rate counts as one of 10 Gbit/s).
// Nodes of a shared link stay together. Throws UsageError if a host has no node in the end, and
// EnvironmentError if this build has no METIS and some node has no host.
void PlaceNodes(scenario::Scenario& scenario);

// The sum of the rates of the links between hosts, bit/s, both directions.
double CutRate(const scenario::Scenario& scenario);

}  // namespace viaduct::hosts
