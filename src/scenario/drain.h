// How long what a flow has sent may still be under way when its sender has ended.
#pragma once

#include "base/time.h"
#include "scenario/scenario.h"

namespace viaduct::scenario {

// A receiver waits until all has come, or nothing has for `quiet`, and for `limit` at most.
struct Drain {
  Duration quiet;
  Duration limit;
};

// `quiet` is what the links of a shortest path can hold (their delay, and their full queue at their
// rate) and a second; `limit` is that of the longest path, and five seconds. A link whose rate or
// delay comes from a file counts with five seconds. Neither is more than a minute.
Drain DrainOf(const Scenario& scenario, const Flow& flow);

}  // namespace viaduct::scenario
