// A run from start to results: the lab, the simulator, convergence, traffic, programs, events.
#pragma once

#include <string>
#include <vector>

#include "base/result/run.h"
#include "scenario/scenario.h"

namespace viaduct::run {

class Machines;

struct RunOptions {
  bool quiet = false;
  // The folder for captures and the programs' output; created when needed. Empty: "./NAME-captures"
  // for captures, and the programs' output is only shown.
  std::string directory;
  std::vector<std::string> command_line;  // recorded in the results
  // Mode simulate: times since convergence at which the run is paused for shells on kernel nodes.
  std::vector<Duration> pauses = {};
  // Set if the run is that of one host's part of a lab (scenario::PartOf()): the other machines.
  // Must outlive the run. Results are then those of this part.
  Machines* machines = nullptr;
};

// Runs the scenario and returns the results with their verdicts. Throws sys::Interrupted, or Error
// if there are no results. Removes everything that it created before it returns or throws. In real
// modes the caller must be root or have a broker connection (broker::Client::ConnectOrSpawn).
result::RunResult Execute(const scenario::Scenario& scenario, const RunOptions& options);

}  // namespace viaduct::run
