// Where programs are: this one, those that come with it, and those of the machine.
#pragma once

#include <filesystem>
#include <string>

namespace viaduct::sys {

// The file of the running program. Throws EnvironmentError where /proc is not mounted.
std::filesystem::path OwnProgram();

// A file that comes with the programs of the product: in VIADUCT_LIBEXEC alone where that is set;
// else beside the running program, in the folder above, in ../libexec/viaduct, or in the folder
// this was built in. Throws EnvironmentError saying how to build it.
std::filesystem::path FindCompanion(const std::string& name);

// The program that this name starts, looked up in PATH unless it has a slash; "": none.
std::string FindProgram(const std::string& name);

}  // namespace viaduct::sys
