// Adds to an error the place of the mistake in the user's input.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/error.h"

namespace viaduct {

// Runs `work` and returns its result. A UsageError that `work` throws is rethrown with `where` (an
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
