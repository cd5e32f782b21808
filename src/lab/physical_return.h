// Returns the physical interfaces of a run to the machine.
#pragma once

#include <functional>
#include <vector>

#include "lab/record.h"

namespace viaduct::lab {

// Returns the steps that return a run's physical interfaces to the caller's namespace in their
// former state: one step for each interface, or for each Wi-Fi card, the last first. A step may be
// repeated, whether it failed or not. It throws Error if the interface cannot be returned now; it
// throws nothing if the interface has returned, was never moved or has been unplugged. `run` and
// `cards` must outlive the steps.
std::vector<std::function<void()>> PhysicalReturns(const RunInfo& run, sys::WirelessCards& cards);

}  // namespace viaduct::lab
