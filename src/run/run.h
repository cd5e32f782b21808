// A run from start to results: the lab, the simulator, convergence, traffic, programs, events.
#pragma once

#include <string>
#include <vector>

#include "base/result/run.h"
#include "run/simulator/machines.h"
#include "scenario/scenario.h"

namespace viaduct::run {

struct RunOptions {
  bool quiet = false;
  // The folder for captures and the programs' output; created when needed. Empty: "./NAME-captures"
  // for captures, and the programs' output is only shown.
  std::string directory;
  std::vector<std::string> command_line;  // recorded in the results
  // Mode simulate: times since convergence at which the run is paused for shells on kernel nodes.
  std::vector<Duration> pauses = {};
  // For the run of one machine's part of a lab (scenario::PartOf()), whose results are those of this
  // part: the other machines. Not null; must outlive the run.
  Machines* machines = &Machines::Alone();
};

// Runs the scenario and returns the results with their verdicts. Throws sys::Interrupted, or Error
// if there are no results. Removes everything that it created before it returns or throws. In real
// modes the caller must be root or have a broker connection (broker::Client::ConnectOrSpawn).
result::RunResult Execute(const scenario::Scenario& scenario, const RunOptions& options);

}  // namespace viaduct::run
