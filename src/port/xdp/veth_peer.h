// Finds the peer of an interface of a veth pair, in any network namespace.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"

namespace viaduct::xdp {

struct VethPeer {
  UniqueFd network;
  int ifindex = 0;
  std::string name;
};

// Returns the peer of an interface of the calling thread's network namespace; nothing if the
// interface is not one of a veth pair. Throws UsageError if there is no such interface,
// EnvironmentError if the peer's namespace cannot be found (no process, name or descriptor that
// this process sees has it).
std::optional<VethPeer> FindVethPeer(const std::string& interface);

}  // namespace viaduct::xdp
