// UNIX sockets with a name in the file system.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/fd.h"

namespace viaduct::sys {

// Creates a listening socket at `path` (`type`: SOCK_STREAM, SOCK_SEQPACKET) to which only this
// user and root may connect; replaces an existing file. Throws SystemError, or UsageError if the
// path is too long.
UniqueFd ListenAt(const std::string& path, uid_t uid, gid_t gid, int type);
// Connects to the socket at `path`. Throws SystemError, or Error if the listening process accepts
// no connection for 30 s.
UniqueFd ConnectAt(const std::string& path, int type);

}  // namespace viaduct::sys
