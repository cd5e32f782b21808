// Flows that a simulation in real time cannot carry, because nothing limits them.
#pragma once

#include "scenario/scenario.h"

namespace viaduct::run {

// Throws UsageError naming a flow whose rate nothing limits: a UDP flow if no link of its sender
// has a rate, or a TCP flow if its links have neither a rate nor a delay. In a simulated hub,
// packets take no time on links without a SPEC, like packets between the nodes of a lab, because
// clients are in real time.
void CheckHubRates(const scenario::Scenario& scenario);

}  // namespace viaduct::run
