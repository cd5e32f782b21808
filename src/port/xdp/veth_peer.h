// The peer of an interface in a veth pair, in any namespace.
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

// Finds the peer of an interface of the calling thread's namespace; none: it is no end of a veth
// pair. Throws UsageError if there is no such interface, EnvironmentError if the peer's namespace
// cannot be found (that of no process, name or descriptor that this process sees).
std::optional<VethPeer> FindVethPeer(const std::string& interface);

}  // namespace viaduct::xdp
