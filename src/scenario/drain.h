// The maximum time for which a flow's packets may be under way after its sender has ended.
#pragma once

#include "base/time.h"
#include "scenario/scenario.h"

namespace viaduct::scenario {

// A receiver waits until everything has arrived, or nothing has arrived for `quiet`, and at most
// for `limit`.
struct Drain {
  Duration quiet;
  Duration limit;
};

// `quiet` is the maximum time that the links of a shortest path can hold packets (their delay, and
// their full queue at their rate) plus a second; `limit` is that of the longest path plus five
// seconds. A link whose rate or delay is read from a file counts as five seconds. Neither is more
// than a minute.
Drain DrainOf(const Scenario& scenario, const Flow& flow);

}  // namespace viaduct::scenario
