// A run in a separate process.
#pragma once

#include <optional>

#include "run/run.h"

namespace viaduct::run {

struct SeparateRun {
  std::optional<result::RunResult> results;
  int status = 0;  // exit status of the command; 128 + signal: interrupted
};

// Calls Execute() in a child process, for several runs one after another: a process can start a
// broker and drop root only once, and a failing run must not end the runs after it. Prints errors
// on standard error. Forwards SIGINT, SIGTERM and SIGHUP to the child, which cleans up. Only one
// run may be executed at a time.
SeparateRun ExecuteSeparately(const scenario::Scenario& scenario, const RunOptions& options);

}  // namespace viaduct::run
