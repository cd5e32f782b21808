// Flows that a simulation in real time cannot carry, because nothing limits them.
#pragma once

#include "scenario/scenario.h"

namespace viaduct::run {

// Throws UsageError naming a flow whose rate nothing limits: UDP of a sender none of whose links
// has a rate, or TCP over links that have neither a rate nor a delay. In a simulated hub, packets
// take no time on links without a SPEC, as between the nodes of a lab, because clients are in real
// time.
void CheckHubRates(const scenario::Scenario& scenario);

}  // namespace viaduct::run
