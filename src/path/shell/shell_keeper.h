// Root's half of `viaduct shell`.
#pragma once

#include <cstdint>

#include "base/fd.h"
#include "sys/ipc/message.h"
#include "sys/process/invoking_user.h"

namespace viaduct::path {

inline constexpr ipc::Service kShellService = {"shell", 1};
enum class ShellRequest : uint16_t {
  // Reply: name, created, host, limits, ipv6_limits, ports (indices); a packet socket each, the
  // control socket.
  kBuild = ipc::kFirstRequest,
  kCountUnsent,  // reply: connections of the shell's program that have still to send
};

// The service, which also answers privilege::ProgramRequest. It creates the network of a shell,
// starts the program as the user, and passes signals on. When the connection ends, it ends the
// program and all that descends from it, and removes what it has made.
void KeepShell(UniqueFd connection, const sys::Identity& user);

}  // namespace viaduct::path
