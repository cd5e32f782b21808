// How many files a process may have open (RLIMIT_NOFILE): a lab needs several for each node.
#pragma once

#include <cstddef>
#include <string>

namespace viaduct::sys {

// As root, raises the hard limit of this process and of those it will fork; the soft limit, which
// programs see, stays. Does nothing where the kernel does not permit it.
void AllowMoreDescriptors();

// Raises the soft limit to the hard limit. Throws SystemError.
void RaiseDescriptorLimit();
// In a program's process: sets the limit that there was before this process first raised it.
void RestoreDescriptorLimit();

// Raises the soft limit as far as needed. Throws EnvironmentError if the hard limit is lower;
// `what`, with its verb, begins the message ("the lab needs").
void RequireDescriptors(size_t needed, const std::string& what);

}  // namespace viaduct::sys
