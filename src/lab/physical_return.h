// Gives the machine its own interfaces back.
#pragma once

#include <functional>
#include <vector>

#include "lab/record.h"

namespace viaduct::lab {

// The steps that return a run's physical interfaces to the caller's namespace, as they were before:
// one for each, or for each Wi-Fi card, the last first. Each may be tried again, whatever became of
// an earlier try. A step throws Error if the interface cannot come back now, and nothing if it is
// back, was never moved or has been unplugged. `run` and `cards` outlive the steps.
std::vector<std::function<void()>> PhysicalReturns(const RunInfo& run, sys::WirelessCards& cards);

}  // namespace viaduct::lab
