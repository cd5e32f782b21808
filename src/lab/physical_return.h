// Returns the physical interfaces to the machine.
#pragma once

#include <functional>
#include <vector>

#include "lab/record.h"

namespace viaduct::lab {

// The steps that return a run's physical interfaces to the caller's namespace, as they were before:
// one for each interface, or for each Wi-Fi card, the last first. Each may be repeated, whether it
// failed or not. A step throws Error if the interface cannot be returned now, and nothing if it has
// returned, was never moved or has been unplugged. `run` and `cards` must outlive the steps.
std::vector<std::function<void()>> PhysicalReturns(const RunInfo& run, sys::WirelessCards& cards);

}  // namespace viaduct::lab
