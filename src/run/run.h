// A run from start to results: the lab, the simulator, convergence, traffic, programs, events.
#pragma once

#include <string>
#include <vector>

#include "result/run.h"
#include "scenario/scenario.h"

namespace viaduct::run {

struct RunOptions {
  bool quiet = false;
  // Where captures and the programs' output go; made when needed. Empty: "./NAME-captures" for
  // captures, and programs' output is only shown.
  std::string directory;
  std::vector<std::string> command_line;  // for the record
  // Mode simulate: when the run is paused for shells on kernel nodes, since convergence.
  std::vector<Duration> pauses = {};
};

// Runs it and returns the results, judged.
// Throws sys::Interrupted, or Error where there are no results. In every case all that was made is
// gone when it returns or throws. In real modes the caller must be root or have a broker connection
// (broker::Client::ConnectOrSpawn).
result::RunResult Execute(const scenario::Scenario& scenario, const RunOptions& options);

}  // namespace viaduct::run
