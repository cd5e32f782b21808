// The environment that results record to stay reproducible: versions, kernel, machine, command
// line.
#pragma once

#include <string>
#include <vector>

#include "base/result/environment.h"

namespace viaduct::run {

// The product's version, "0.1.0".
std::string Version();

// Describes the environment of this process; call it at the start.
result::Environment DescribeEnvironment(const std::vector<std::string>& command_line);

}  // namespace viaduct::run
