// Merges the results of a lab's machines into one.
#pragma once

#include <string>
#include <vector>

#include "base/result/run.h"
#include "run/machines/mpi_link.h"
#include "scenario/scenario.h"

namespace viaduct::machines {

struct PartResult {
  std::string machine;
  result::RunResult result;
  ClockReading clock, clock_after;  // before the traffic, and after it
};

// Returns one result of `parts`, one part for every machine. A flow's result is that of the machine
// which measured it: the receiver's for UDP, the sender's for TCP and ping.
result::RunResult Merge(const scenario::Scenario& scenario, std::vector<PartResult> parts);

}  // namespace viaduct::machines
