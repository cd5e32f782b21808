// The exit status of the benchmark programs.
#pragma once

#include <cstdio>
#include <string_view>

#include "base/error.h"

namespace viaduct::bench {

// Runs `run` and returns the program's exit status: the result of `run`, or, if it throws an error,
// the status of the error, after writing one line to standard error.
template <class Run>
int ExitStatusOf(std::string_view program, Run run) {
  try {
    return run();
  } catch (const Error& error) {
    std::fprintf(stderr, "%.*s: %s\n", static_cast<int>(program.size()), program.data(),
                 error.what());
    return static_cast<int>(error.status());
  }
}

}  // namespace viaduct::bench
