// One result of the results of a lab's hosts.
#pragma once

#include <string>
#include <vector>

#include "base/result/run.h"
#include "run/machines/mpi_link.h"
#include "scenario/scenario.h"

namespace viaduct::hosts {

struct PartResult {
  std::string host;
  result::RunResult result;
  ClockReading clock, clock_after;  // before the traffic, and after it
};

// `parts`: of every host. Of each flow, the result is that of the host which measured it: the
// receiver's of UDP, the sender's of TCP and ping.
result::RunResult Merge(const scenario::Scenario& scenario, std::vector<PartResult> parts);

}  // namespace viaduct::hosts
