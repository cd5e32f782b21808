// docs/results.md out of the tables of keys.
#pragma once

#include <string>

namespace viaduct::result {

std::string DocumentResults();

}  // namespace viaduct::result
