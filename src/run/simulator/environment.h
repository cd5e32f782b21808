// The environment that results record so that they are reproducible: versions, kernel, machine,
// command line.
#pragma once

#include <string>
#include <vector>

#include "base/result/environment.h"

namespace viaduct::run {

// Returns the product's version, "0.1.0".
std::string Version();

// Describes the environment of this process; must be called at the start of a run.
result::Environment DescribeEnvironment(const std::vector<std::string>& command_line);

}  // namespace viaduct::run
