// The resource limits (getrlimit(2)) under which root's half works, and those of its caller.
#pragma once

namespace viaduct::sys {

// Replaces the caller's limits by root's own in a process of root's half, because the caller's
// could end its work halfway. Sets what the hard limits permit if the kernel forbids raising them,
// and throws EnvironmentError if that is too little to work with.
void TakeRootsLimits();

// Restores, in the process of a program of the caller, the limits before TakeRootsLimits().
void RestoreCallersLimits();

}  // namespace viaduct::sys
