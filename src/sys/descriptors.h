// Creates descriptors in pairs, and closes descriptors inherited from a parent process. All created
// descriptors are close-on-exec.
#pragma once

#include <utility>
#include <vector>

#include "base/fd.h"

namespace viaduct::sys {

struct Pipe {
  UniqueFd read, write;
};
Pipe MakePipe();  // throws SystemError

// Returns a close-on-exec copy of the descriptor. Throws SystemError.
UniqueFd Duplicate(int fd);

// Creates two connected UNIX sockets of this type (SOCK_STREAM, SOCK_SEQPACKET). Throws
// SystemError.
std::pair<UniqueFd, UniqueFd> MakeSocketPair(int type);

// Sets O_NONBLOCK: reads and writes of `fd` fail with EAGAIN from now on instead of waiting. Throws
// SystemError.
void SetNonBlocking(int fd);

// Redirects standard input, output and error to /dev/null. Throws SystemError.
void DropStandardStreams();

// Closes all descriptors of this process except 0, 1, 2 and those in `keep`. For a forked process:
// peers of its parent then notice when the parent closes its own copies. Throws SystemError.
void CloseAllBut(std::vector<int> keep);

// Closes all descriptors above 2 that this program inherited when it was executed, which are the
// descriptors without close-on-exec. For a process that outlives its parent: the parent may wait
// until all copies of a lock or pipe are closed. Throws SystemError.
void CloseInherited();

}  // namespace viaduct::sys
