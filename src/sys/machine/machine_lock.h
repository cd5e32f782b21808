// The lock that only one of this machine's paths and shells can hold at a time.
#pragma once

#include "base/fd.h"

namespace viaduct::sys {

// Holds the lock until destruction. Paths share interfaces; shells share addresses and forwarding.
// A process must hold the lock while it takes or releases any of these resources, or reads the
// records of the resources that other processes have taken. The lock (flock(2)) is the folder
// /run/viaduct/.turn, which only root can open. A function that needs the lock has a MachineLock as
// parameter, so that no process waits for a lock that it holds itself.
class MachineLock {
 public:
  MachineLock();  // waits for the lock; throws SystemError, EnvironmentError

 private:
  UniqueFd folder_;
};

}  // namespace viaduct::sys
