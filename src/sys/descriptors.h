// Making descriptors in pairs, and getting rid of those of a parent. All are close-on-exec.
#pragma once

#include <utility>
#include <vector>

#include "base/fd.h"

namespace viaduct::sys {

struct Pipe {
  UniqueFd read, write;
};
Pipe MakePipe();  // throws SystemError

// Two connected UNIX sockets of this type (SOCK_STREAM, SOCK_SEQPACKET). Throws SystemError.
std::pair<UniqueFd, UniqueFd> MakeSocketPair(int type);

// Reading or writing `fd` fails with EAGAIN from now on rather than wait. Throws SystemError.
void SetNonBlocking(int fd);

// Makes standard input, output and error /dev/null. Throws SystemError.
void DropStandardStreams();

// Closes all descriptors of this process but 0, 1, 2 and these: for a process forked from one whose
// peers must see its descriptors go. Throws SystemError.
void CloseAllBut(std::vector<int> keep);

}  // namespace viaduct::sys
