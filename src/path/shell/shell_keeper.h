// Root's half of `viaduct shell` (sys/privilege/halves.h).
#pragma once

#include <cstdint>

#include "base/fd.h"
#include "sys/ipc/message.h"
#include "sys/process/invoking_user.h"

namespace viaduct::path {

inline constexpr ipc::Service kShellService = {"shell", 1};
enum class ShellRequest : uint16_t {
  // Reply: name, created, host, limits, ipv6_limits, ports (indices); the descriptors of a packet
  // socket for each port and of the control socket.
  kBuild = ipc::kFirstRequest,
  kCountUnsent,  // reply: number of the program's TCP connections that still have data to send
};

// Runs the service, which also answers privilege::ProgramRequest. It creates the network of a
// shell, starts the program as the user, and passes signals on. When the connection ends, the
// service ends the program and all its descendants, and removes the network.
void KeepShell(UniqueFd connection, const sys::Identity& user);

}  // namespace viaduct::path
