// Merges the results of the machines of a lab into one result.
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
  ClockReading clock, clock_after;  // measured before the traffic, and after it
};

// Returns one merged result of `parts`, which has one part for every machine. The result of a flow
// is that of the machine that measured it: the receiver's for UDP, the sender's for TCP and ping.
result::RunResult Merge(const scenario::Scenario& scenario, std::vector<PartResult> parts);

}  // namespace viaduct::machines
