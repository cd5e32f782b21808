// Starting a broker, and connecting to it.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"

namespace viaduct::broker {

// The connection inherited in VIADUCT_BROKER_FD (close-on-exec from now on). Throws UsageError if
// the variable names no socket.
std::optional<UniqueFd> InheritedConnection();

struct SpawnedBroker {
  UniqueFd connection;
  int pid = 0;
};
// Forks a broker from this process, which must be root: throws EnvironmentError otherwise.
SpawnedBroker SpawnBroker();
// Waits for a broker that has ended or is about to end; does not wait for one that serves others.
void ReapBroker(int pid);

// The socket on which the broker of a detached lab listens.
std::string ControlSocketPath(const std::string& lab);
// Throws UsageError if no such lab is up.
UniqueFd ConnectToSocket(const std::string& lab);

}  // namespace viaduct::broker
