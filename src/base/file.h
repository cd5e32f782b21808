// Reads and writes whole files, and reads descriptors until their end.
#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"

namespace viaduct {

// Reads a descriptor until its end, and returns the text. Throws SystemError with `what`, the name
// of what is read.
std::string ReadToEnd(int fd, std::string_view what);
// Writes all of `text`, with as many calls of write(2) as necessary. Throws SystemError with
// `what`, the name of what is written.
void WriteAll(int fd, std::string_view text, std::string_view what);

// Returns the text of a file. Throws SystemError with the path.
std::string ReadFile(const std::string& path);
// Returns the text of a file; "" if the file is absent, if this user may not read it, or if it
// vanishes during the reading (as files of /proc do). Throws SystemError if descriptors or memory
// are short.
std::string ReadFileIfAny(const std::string& path);
// Returns the text of a file that the user named. The limit is 256 MiB, because the file may be a
// device without an end. Throws UsageError "PATH: cannot be read: No such file...".
std::string ReadNamedFile(const std::string& path);

// Returns the text of a regular file of at most 256 MiB, which can be read repeatedly. Checks the
// file's type before opening the file, because opening a FIFO blocks until a process opens the FIFO
// for writing. Throws UsageError.
std::string ReadRegularFile(const std::string& path);
// Throws UsageError, such as "PATH is a FIFO; use a regular file", if the file is not a regular
// file.
void CheckIsRegular(const std::string& path);

// Returns the absolute path of the current folder. Throws UsageError if the folder has been
// removed.
std::string CurrentFolder();

// Creates or replaces a file (mode 0666 less the umask). Throws SystemError with the path.
void WriteFile(const std::string& path, std::string_view text);

// Creates an anonymous file in memory (memfd_create(2)) with `text`, positioned at its start.
// Unlike a pipe the file never fills up. /proc shows `name` as its name. Throws SystemError.
UniqueFd MemoryFile(const char* name, std::string_view text);

}  // namespace viaduct
