// Starting programs inside a node.
#pragma once

#include "broker/client.h"
#include "sys/invoking_user.h"

namespace viaduct::broker {

// Forks and executes the program in the network namespace, as `owner`, in a session of its own, and
// returns its pid (which is also its process group) once it runs. Nothing of the caller's
// descriptors is inherited but the three standard ones. Throws EnvironmentError where there is no
// such program, Error where it cannot be started.
int StartProgram(const ProgramOptions& options, int namespace_fd, const sys::Identity& owner);

// A lab needs some descriptors a node: allows this process as many as it may have. Programs started
// from then on still get the former limit.
void RaiseDescriptorLimit();

}  // namespace viaduct::broker
