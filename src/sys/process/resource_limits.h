// The resource limits (getrlimit(2)) under which root's half works, and those of its caller.
#pragma once

namespace viaduct::sys {

// For a process of root's half: puts limits of root's own in the place of the caller's, which could
// end its work halfway. Does what the hard limits permit where the kernel lets nobody raise them,
// and throws EnvironmentError where that is too little to work with.
void TakeRootsLimits();

// In the process of a program of the caller's: the limits that there were before TakeRootsLimits().
void RestoreCallersLimits();

}  // namespace viaduct::sys
