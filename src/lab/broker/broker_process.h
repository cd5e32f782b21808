// Functions that start a broker and connect to one.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"
#include "sys/privilege/halves.h"
#include "sys/process/invoking_user.h"

namespace viaduct::broker {

// Returns the connection inherited in VIADUCT_BROKER_FD, made close-on-exec. Throws UsageError if
// the variable names no socket.
std::optional<UniqueFd> InheritedConnection();

// Runs the broker for the user `owner`, in a process that the steward has started
// (sys/privilege/steward.h).
void RunBroker(UniqueFd connection, const sys::Identity& owner);

// Starts a broker as a service of the steward (sys/privilege/steward.h). A program without a
// steward (a user's own scenario) must run as root: the program forks the broker and becomes the
// invoking user. Throws EnvironmentError if such a program does not run as root.
privilege::ServiceProcess SpawnBroker();

// Returns the path of the socket on which the broker of a detached lab listens.
std::string ControlSocketPath(const std::string& lab);
// Connects to the broker of a detached lab. Throws UsageError if no lab of this name is up.
UniqueFd ConnectToSocket(const std::string& lab);

}  // namespace viaduct::broker
