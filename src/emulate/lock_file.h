// Locks (flock(2)) that nobody but root can take: /run/viaduct/.locks, which only root can open.
#pragma once

#include <string>

#include "base/fd.h"

namespace viaduct::emulate {

// The path of the lock with this name, which has no slash.
std::string LockPath(const std::string& name);
// Opens the file to lock, which is made if there is none. Throws SystemError.
UniqueFd OpenLock(const std::string& name);

}  // namespace viaduct::emulate
