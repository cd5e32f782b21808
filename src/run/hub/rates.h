// Flows that a simulation in real time cannot carry, because nothing limits them.
#pragma once

#include "scenario/scenario.h"

namespace viaduct::run {

// In a simulated hub, links without a SPEC take no time, as between the nodes of a lab:
// clients are in real time. Throws UsageError naming a flow whose rate nothing limits: UDP of a
// sender whose links have none, or TCP by a way of links that have neither a rate nor a delay.
void CheckHubRates(const scenario::Scenario& scenario);

}  // namespace viaduct::run
