// Sends and receives bytes together with file descriptors over UNIX sockets (SCM_RIGHTS, unix(7)).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <vector>

#include "base/fd.h"

namespace viaduct::sys {

// The maximum number of descriptors in one message: SCM_MAX_FD, include/net/scm.h.
inline constexpr size_t kMaxPassedDescriptors = 253;

// Calls sendmsg(2) once, without SIGPIPE, and again if a signal interrupts it. Returns the result
// of the system call: the number of bytes sent, or -1 with errno set (EINVAL: more than
// kMaxPassedDescriptors). The caller keeps owning the descriptors.
ssize_t SendWithDescriptors(int socket, std::span<const std::byte> bytes,
                            std::span<const int> descriptors, int flags = 0);

struct ReceivedMessage {
  ssize_t length;  // the result of recvmsg(2): 0 at the end, or -1 with errno set
  bool truncated;  // whether there were more bytes or descriptors than the capacity
};

// Calls recvmsg(2) once, and again if a signal interrupts it. Appends the received descriptors,
// which are close-on-exec.
ReceivedMessage ReceiveWithDescriptors(int socket, std::span<std::byte> bytes,
                                       std::vector<UniqueFd>& descriptors, int flags = 0);

}  // namespace viaduct::sys
