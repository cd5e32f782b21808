// Reading and writing whole files, and reading descriptors until their end.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"

namespace viaduct {

// Returns everything that remains to be read. Throws SystemError naming `what` is read.
std::string ReadToEnd(int fd, std::string_view what);
// Writes all of `text`, however many calls it takes. Throws SystemError naming `what` is written.
void WriteAll(int fd, std::string_view text, std::string_view what);

// Returns the text of a file. Throws SystemError naming it.
std::string ReadFile(const std::string& path);
// The same for a file that may be absent, closed to this user, or vanish while it is read (as in
// /proc): then returns "". Throws SystemError where descriptors or memory are short.
std::string ReadFileIfAny(const std::string& path);
// The same for a file that the user named, at most 256 MiB: it may be a device without an end.
// Throws UsageError "PATH: cannot be read: No such file...".
std::string ReadNamedFile(const std::string& path);

// The same for a file that is read at any time and again: a regular one, which is found out before
// it is opened. A FIFO would hold up whoever opens it until somebody writes. Throws UsageError.
std::string ReadRegularFile(const std::string& path);
// Throws UsageError "PATH: is a FIFO; give a regular file" where there is something else.
void CheckIsRegular(const std::string& path);

// Returns the current folder, absolute. Throws UsageError if it has been removed.
std::string CurrentFolder();

// Creates or replaces a file (mode 0666 less the umask). Throws SystemError naming it.
void WriteFile(const std::string& path, std::string_view text);

// Creates an anonymous file in memory (memfd_create(2)), positioned at its start: it never fills up
// as a pipe does. `name` is what /proc shows. Throws SystemError.
UniqueFd MemoryFile(const char* name, std::string_view text);

}  // namespace viaduct
