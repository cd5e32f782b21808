// Finds the running program, the programs that are installed with it, and those of the machine.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace viaduct::sys {

// Returns the executable file of this process. Throws EnvironmentError if /proc is not mounted.
std::filesystem::path OwnProgram();

// Finds a file that is installed with the product's programs. If VIADUCT_LIBEXEC is set, searches
// only there; else next to the running program (or the library that has this code), in its parent
// folder, or in libexec/viaduct of their prefix. Throws EnvironmentError that describes how to
// build the file.
std::filesystem::path FindCompanion(const std::string& name);

// Returns the path of a file that is installed for all machines (share/viaduct), or its counterpart
// in the build folder; "" if there is none.
std::string FindSharedFile(const std::string& name);

// Returns the path of the program `name`, searched in PATH unless it contains a slash; "" if there
// is none.
std::string FindProgram(const std::string& name);
// Returns the path of a program like FindProgram(), but searched in `folders`, which are separated
// by colons.
std::string FindProgramIn(std::string_view folders, const std::string& name);

// The folders of the machine's own programs. Programs that root's half executes for a user are in
// one of them, whatever the user's PATH is.
inline constexpr char kSystemFolders[] = "/usr/sbin:/usr/bin:/sbin:/bin";

}  // namespace viaduct::sys
