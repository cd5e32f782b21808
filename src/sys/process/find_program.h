// Finding the running program, the programs that are installed with it, and those of the machine.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace viaduct::sys {

// The executable file of this process. Throws EnvironmentError if /proc is not mounted.
std::filesystem::path OwnProgram();

// Finds a file that is installed with the product's programs. If VIADUCT_LIBEXEC is set, only
// there; else beside the running program (or the library that has this code), in its parent folder,
// or in libexec/viaduct of their prefix. Throws EnvironmentError saying how to build it.
std::filesystem::path FindCompanion(const std::string& name);

// The path of a file that is installed for all machines (share/viaduct), or stands for it in the
// build folder; "" if there is none.
std::string FindSharedFile(const std::string& name);

// The path of the program `name`, looked up in PATH unless it contains a slash; "" if there is
// none.
std::string FindProgram(const std::string& name);
// The same, looked up in folders that are separated by colons.
std::string FindProgramIn(std::string_view folders, const std::string& name);

// The folders of the machine's own programs. Those that root's half executes for a user are in one
// of them, whatever the user's PATH is.
inline constexpr char kSystemFolders[] = "/usr/sbin:/usr/bin:/sbin:/bin";

}  // namespace viaduct::sys
