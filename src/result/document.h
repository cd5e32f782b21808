// Generates docs/results.md from the tables of keys.
#pragma once

#include <string>

namespace viaduct::result {

std::string DocumentResults();

}  // namespace viaduct::result
