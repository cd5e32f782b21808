// What the harness's programs have in common: how they end.
#pragma once

#include <cstdio>
#include <string_view>

#include "base/error.h"

namespace viaduct::bench {

// The exit status of a program whose work is `run`: what this returns, or, after one line on
// standard error, that of the error that it throws.
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
