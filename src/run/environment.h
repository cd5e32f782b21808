// What results must carry to be worth something later: versions, kernel, machine, command line.
#pragma once

#include <string>
#include <vector>

#include "result/environment.h"

namespace viaduct::run {

// The product's version, "0.1.0".
std::string Version();

// Of this process, which has just begun.
result::Environment DescribeEnvironment(const std::vector<std::string>& command_line);

}  // namespace viaduct::run
