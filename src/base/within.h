// Adding to an error where in the user's input the mistake is.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/error.h"

namespace viaduct {

// Runs `work` and returns what it returns. A UsageError that it throws is rethrown with `where` (an
// argument, or FILE:LINE) and a colon before its message.
template <class Work>
auto Within(const std::string& where, const Work& work) {
  try {
    return work();
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", where, error.what()));
  }
}

}  // namespace viaduct
