// A run from its start to its results: the lab, the simulator, convergence, traffic, programs,
// events.
#pragma once

#include <string>
#include <vector>

#include "base/result/run.h"
#include "run/simulator/machines.h"
#include "scenario/scenario.h"

namespace viaduct::run {

struct RunOptions {
  bool quiet = false;
  // The folder for captures and the programs' output; created when it is needed. Empty: captures
  // are in "./NAME-captures", and the programs' output is only shown.
  std::string directory;
  std::vector<std::string> command_line;  // recorded in the results
  // In mode simulate: the times since convergence at which the run is paused for shells on kernel
  // nodes.
  std::vector<Duration> pauses = {};
  // Connects to the other machines, if the run is one machine's part of a lab (scenario::PartOf()).
  // Must outlive the run. In this case the results are only the results of this part.
  Machines* machines = &Machines::Alone();
};

// Runs the scenario and returns the results with their verdicts. Throws sys::Interrupted, or Error
// if there are no results. Before it returns or throws, the function removes all objects that it
// has created. In real modes the caller must be root or have a broker connection
// (broker::Client::ConnectOrSpawn).
result::RunResult Execute(const scenario::Scenario& scenario, const RunOptions& options);

}  // namespace viaduct::run
