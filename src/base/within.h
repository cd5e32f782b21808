// Saying where in the user's input a mistake is.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/error.h"

namespace viaduct {

// Runs `work` and returns what it returns. A UsageError that it throws comes out with `where` (an
// argument, or FILE:LINE) and a colon before its text.
template <class Work>
auto Within(const std::string& where, const Work& work) {
  try {
    return work();
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", where, error.what()));
  }
}

}  // namespace viaduct
