// How a broker comes to be, and how others find it.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"

namespace viaduct::broker {

// The connection inherited in VIADUCT_BROKER_FD (close-on-exec from now on). UsageError where that
// names no socket.
std::optional<UniqueFd> InheritedConnection();

struct SpawnedBroker {
  UniqueFd connection;
  int pid = 0;
};
// Forks a broker from this process, which must be root: EnvironmentError otherwise.
SpawnedBroker SpawnBroker();
// Collects a broker that has ended or is about to; does not wait for one that serves others.
void ReapBroker(int pid);

// Where the broker of a detached lab listens.
std::string ControlSocketPath(const std::string& lab);
// UsageError where no such lab is up.
UniqueFd ConnectToSocket(const std::string& lab);

}  // namespace viaduct::broker
