// The launching side of a run on several machines: Open MPI's mpirun starts `viaduct rank` on each
// machine.
#pragma once

#include <string>
#include <vector>

#include "base/result/run.h"
#include "scenario/scenario.h"

namespace viaduct::machines {

struct LaunchRequest {
  bool quiet = false;
  std::string directory;  // RunOptions::directory on every machine; absolute, or empty
  std::vector<std::string> command_line;
};

// Runs the lab on the scenario's machines and returns the merged results of all machines. Every
// node must have a machine (PlaceNodes()). Throws Error with the first reason for which there are
// no results, EnvironmentError if mpirun is missing or this build has no support for it, and
// sys::Interrupted.
result::RunResult RunOnMachines(const scenario::Scenario& scenario, const LaunchRequest& request);

}  // namespace viaduct::machines
