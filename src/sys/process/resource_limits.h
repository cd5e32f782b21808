// The resource limits (getrlimit(2)) of root's half, and the limits of its caller.
#pragma once

namespace viaduct::sys {

// Replaces the caller's limits in a process of root's half, because the caller's limits could end
// its work halfway. If the kernel forbids raising the hard limits, sets the highest values that the
// hard limits permit. Throws EnvironmentError if these values are too low to work with.
void TakeRootsLimits();

// Restores, in the process of a program of the caller, the limits that TakeRootsLimits() replaced.
void RestoreCallersLimits();

}  // namespace viaduct::sys
