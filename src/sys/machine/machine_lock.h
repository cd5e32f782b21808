// The lock by which the paths and shells of this machine take turns.
#pragma once

#include "base/fd.h"

namespace viaduct::sys {

// Holds the lock until destruction. Paths share interfaces; shells share addresses and forwarding.
// A process must hold the lock while it takes or releases any of these, or reads the records of
// what other processes have taken. The lock (flock(2)) is the folder /run/viaduct/.turn, which only
// root can open. A function that needs the lock has a MachineLock as parameter, so that no process
// waits for itself.
class MachineLock {
 public:
  MachineLock();  // waits; throws SystemError, EnvironmentError

 private:
  UniqueFd folder_;
};

}  // namespace viaduct::sys
