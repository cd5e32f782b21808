// The maximum time for which packets of a flow may be under way after its sender has ended.
#pragma once

#include "base/time.h"
#include "scenario/scenario.h"

namespace viaduct::scenario {

// The time limits of a receiver: it waits until all packets have arrived, or no packet has arrived
// for `quiet`, and at most for `limit`.
struct Drain {
  Duration quiet;
  Duration limit;
};

// Returns the time limits for a flow. `quiet` is the maximum time for which the links of a shortest
// path can hold packets (their delay, and their full queue at their rate) plus a second; `limit` is
// the time for the longest path plus five seconds. A link whose rate or delay is read from a file
// counts as five seconds. Neither limit is more than a minute.
Drain DrainOf(const Scenario& scenario, const Flow& flow);

}  // namespace viaduct::scenario
