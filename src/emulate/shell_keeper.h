// Root's half of `viaduct shell`.
#pragma once

#include "base/fd.h"
#include "sys/invoking_user.h"

namespace viaduct::emulate {

// A service (privilege/steward.h). It creates the network of a shell, starts the program as the
// user, and passes signals on. When the connection ends, it ends the program and all that descends
// from it, and removes what it has made.
void KeepShell(UniqueFd connection, const sys::Identity& user);

}  // namespace viaduct::emulate
