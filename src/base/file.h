// Reads and writes whole files, and reads descriptors until their end.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"

namespace viaduct {

// Returns everything that remains to be read. Throws SystemError naming `what`, the thing that is
// read.
std::string ReadToEnd(int fd, std::string_view what);
// Writes all of `text`, with as many calls as necessary. Throws SystemError naming `what`, the
// thing that is written.
void WriteAll(int fd, std::string_view text, std::string_view what);

// Returns the text of a file. Throws SystemError naming it.
std::string ReadFile(const std::string& path);
// Returns the text of a file; "" if the file is absent, closed to this user, or vanishes while it
// is read (as in /proc). Throws SystemError if descriptors or memory are short.
std::string ReadFileIfAny(const std::string& path);
// Returns the text of a file that the user named, at most 256 MiB: it may be a device without an
// end. Throws UsageError "PATH: cannot be read: No such file...".
std::string ReadNamedFile(const std::string& path);

// Returns the text of a regular file, at most 256 MiB, that may be read at any time and repeatedly.
// Checks the file's type before opening it, because opening a FIFO blocks until a process opens it
// for writing. Throws UsageError.
std::string ReadRegularFile(const std::string& path);
// Throws UsageError, such as "PATH: is a FIFO; give a regular file", if the file is not a regular
// one.
void CheckIsRegular(const std::string& path);

// Returns the absolute path of the current folder. Throws UsageError if the folder has been
// removed.
std::string CurrentFolder();

// Creates or replaces a file (mode 0666 less the umask). Throws SystemError naming it.
void WriteFile(const std::string& path, std::string_view text);

// Creates an anonymous file in memory (memfd_create(2)), positioned at its start. Unlike a pipe it
// never fills up. `name` is the name that /proc shows. Throws SystemError.
UniqueFd MemoryFile(const char* name, std::string_view text);

}  // namespace viaduct
