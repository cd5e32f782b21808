// Starting a broker, and connecting to it.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"
#include "sys/privilege/halves.h"
#include "sys/process/invoking_user.h"

namespace viaduct::broker {

// The connection inherited in VIADUCT_BROKER_FD (close-on-exec from now on). Throws UsageError if
// the variable names no socket.
std::optional<UniqueFd> InheritedConnection();

// What a broker does, in a process of root's half (sys/privilege/steward.h) for this user.
void RunBroker(UniqueFd connection, const sys::Identity& owner);

// A broker from root's half of the command. A program that has none, a user's own scenario, must be
// root: it forks the broker, and becomes the invoking user. Throws EnvironmentError otherwise.
privilege::ServiceProcess SpawnBroker();

// The socket on which the broker of a detached lab listens.
std::string ControlSocketPath(const std::string& lab);
// Throws UsageError if no such lab is up.
UniqueFd ConnectToSocket(const std::string& lab);

}  // namespace viaduct::broker
