// Root's half of `viaduct join`.
#pragma once

#include "base/fd.h"
#include "sys/invoking_user.h"

namespace viaduct::emulate {

// A service (privilege/steward.h). It creates the network of a joined node, starts a program there
// as the user if it is asked to, and passes signals on. When the connection ends, it ends the
// program and all that descends from it, and removes what it has made.
void KeepJoin(UniqueFd connection, const sys::Identity& user);

}  // namespace viaduct::emulate
