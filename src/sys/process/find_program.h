// Finds the executable of this process, the programs that are installed with it, and programs of
// the machine.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace viaduct::sys {

// Returns the executable file of this process. Throws EnvironmentError if /proc is not mounted.
std::filesystem::path OwnProgram();

// Finds a file that is installed with the product's programs. If VIADUCT_LIBEXEC is set, searches
// only in that folder; else next to the running program (or the library that contains this
// function), in its parent folder, or in libexec/viaduct of their prefix. Throws EnvironmentError
// that describes how to build the file.
std::filesystem::path FindCompanion(const std::string& name);

// Returns the path of an architecture-independent file (share/viaduct), or of its counterpart in
// the build folder; "" if there is no such file.
std::string FindSharedFile(const std::string& name);

// Returns the path of the program `name`, searched in PATH unless the name contains a slash; "" if
// there is no such program.
std::string FindProgram(const std::string& name);
// Returns the path of a program like FindProgram(), but searches `folders`, which are separated by
// colons.
std::string FindProgramIn(std::string_view folders, const std::string& name);

// The folders of the machine's programs. Programs that root's half executes for a user are searched
// only in these folders, and not in the user's PATH.
inline constexpr char kSystemFolders[] = "/usr/sbin:/usr/bin:/sbin:/bin";

}  // namespace viaduct::sys
