// Starting programs inside a node.
#pragma once

#include "broker/client.h"
#include "sys/invoking_user.h"

namespace viaduct::broker {

// Forks and executes the program in the network namespace, as `owner`, in a session of its own, and
// returns its pid (which is also its process group) once it runs. Only the three standard
// descriptors are inherited. Throws EnvironmentError if there is no such program, Error if it
// cannot be started.
int StartProgram(const ProgramOptions& options, int namespace_fd, const sys::Identity& owner);

// Raises the soft limit of open files to the hard limit, because a lab needs several descriptors
// per node. Programs started later still get the former limit.
void RaiseDescriptorLimit();

}  // namespace viaduct::broker
