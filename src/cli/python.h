// Executing the product's programs that are written in Python.
#pragma once

#include <string>
#include <vector>

namespace viaduct::cli {

// Becomes /usr/bin/python3 with these arguments; VIADUCT in its environment is this command's file.
// Throws EnvironmentError if there is no Python.
[[noreturn]] void ExecutePython(std::vector<std::string> arguments);

}  // namespace viaduct::cli
