// Creates descriptors in pairs, and closes those inherited from a parent. All created descriptors
// are close-on-exec.
#pragma once

#include <utility>
#include <vector>

#include "base/fd.h"

namespace viaduct::sys {

struct Pipe {
  UniqueFd read, write;
};
Pipe MakePipe();  // throws SystemError

// Returns a close-on-exec copy. Throws SystemError.
UniqueFd Duplicate(int fd);

// Creates two connected UNIX sockets of this type (SOCK_STREAM, SOCK_SEQPACKET). Throws
// SystemError.
std::pair<UniqueFd, UniqueFd> MakeSocketPair(int type);

// Sets O_NONBLOCK: reads and writes of `fd` then fail with EAGAIN instead of waiting. Throws
// SystemError.
void SetNonBlocking(int fd);

// Redirects standard input, output and error to /dev/null. Throws SystemError.
void DropStandardStreams();

// Closes all descriptors of this process except 0, 1, 2 and those in `keep`: for a forked process,
// so that peers of its parent see the parent's descriptors close. Throws SystemError.
void CloseAllBut(std::vector<int> keep);

// Closes all descriptors above 2 that this program was started with, which are those without
// close-on-exec. For a process that outlives its caller: the caller may wait until a lock or pipe
// of the caller is closed everywhere. Throws SystemError.
void CloseInherited();

}  // namespace viaduct::sys
