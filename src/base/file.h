// Whole files, and descriptors to their end.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"

namespace viaduct {

// All that is still to be read. Throws SystemError naming `what` is read.
std::string ReadToEnd(int fd, std::string_view what);
// Throws SystemError.
void WriteAll(int fd, std::string_view text, std::string_view what);

// The text of a file. Throws SystemError naming it.
std::string ReadFile(const std::string& path);
// The same of a file that may be absent, or go while it is read (those of /proc): then "".
std::string ReadFileIfAny(const std::string& path);
// The same of a file that the user named: UsageError "PATH: cannot be read: No such file...".
std::string ReadNamedFile(const std::string& path);

// Creates or replaces a file (mode 0666 less the umask). Throws SystemError naming it.
void WriteFile(const std::string& path, std::string_view text);

// A file without a name, in memory, to be read from its start: it never fills up as a pipe does.
// `name` is what /proc shows. Throws SystemError.
UniqueFd MemoryFile(const char* name, std::string_view text);

}  // namespace viaduct
