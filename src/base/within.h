// Adds the place of a mistake in the user's input to the message of an error.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/error.h"

namespace viaduct {

// Calls `work` and returns its result. Rethrows a UsageError that `work` throws with `where` (an
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
