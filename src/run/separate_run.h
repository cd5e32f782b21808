// A run in a process of its own.
#pragma once

#include <optional>

#include "run/run.h"

namespace viaduct::run {

struct SeparateRun {
  std::optional<result::RunResult> results;
  int status = 0;  // what the exit status of a command would be; 128 + signal: interrupted
};

// Execute() in a child, for several runs in turn: a process gives up root for its broker only once,
// and a run that fails must not take the others with it. What it throws is printed on standard
// error. SIGINT, SIGTERM and SIGHUP go on to the child, which cleans up. One at a time.
SeparateRun ExecuteSeparately(const scenario::Scenario& scenario, const RunOptions& options);

}  // namespace viaduct::run
