// Executes the product's programs that are written in Python.
#pragma once

#include <string>
#include <vector>

namespace viaduct::cli {

// Executes /usr/bin/python3 with these arguments in this process; the variable VIADUCT in its
// environment is the path of this command. Throws EnvironmentError if there is no Python.
[[noreturn]] void ExecutePython(std::vector<std::string> arguments);

}  // namespace viaduct::cli
