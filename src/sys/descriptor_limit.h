// The maximum number of open files of a process (RLIMIT_NOFILE): a lab needs several descriptors
// for each node.
#pragma once

#include <cstddef>
#include <string>

namespace viaduct::sys {

// Raises, as root, the hard limit of this process and of the processes that it will fork; leaves
// the soft limit, which programs see, as it is. Does nothing if the kernel does not permit it.
void AllowMoreDescriptors();

// Raises the soft limit to the hard limit. Throws SystemError.
void RaiseDescriptorLimit();
// Restores, in a program's process, the soft limit that this process had before it first raised it.
void RestoreDescriptorLimit();

// Raises the soft limit to at least `needed`. Throws EnvironmentError if the hard limit is lower;
// `what` begins the message and includes its verb ("the lab needs").
void RequireDescriptors(size_t needed, const std::string& what);

}  // namespace viaduct::sys
