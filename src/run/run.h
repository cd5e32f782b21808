// A run from start to results: the lab, the simulator, convergence, traffic, programs, events.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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

// Runs it and returns the results:
//   "scenario": {"name", "file", "hash", "seed", "mode", "duration", "effective" (YAML)}
//   "environment": DescribeEnvironment(), and "ns3", "ns3_build" as the simulator says
//   "setup_seconds", "teardown_seconds"
//   "convergence": {"seconds", "reachable", "pairs", "unreachable": [[a, b], ...]}
//   "flows": [FlowResult...], "programs": [{"name", "node", "command", "status", "seconds", "ok",
//       "output" (its last part)}], "events": [{"link", "state", "at"}], "captures": [{"link",
//       "file", "frames", "dropped"}]
//   "timing", "loop", "counters", "routes": as run/simulator_process.h has them in "report"
//   "verdict": "VALID" or "VOID", "status": ExitStatus, "failures": [text...]
// Throws sys::Interrupted, or Error where there are no results. In every case all that was made is
// gone when it returns or throws. In real modes the caller must be root or have a broker connection
// (broker::Client::ConnectOrSpawn).
nlohmann::json Execute(const scenario::Scenario& scenario, const RunOptions& options);

}  // namespace viaduct::run
