// The other end of a veth pair, in whatever namespace.
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

// Of an interface of the calling thread's namespace; none: it is no end of a veth pair. Throws
// UsageError if there is no such interface, EnvironmentError if the peer's namespace is not to be
// found (that of no process, name or descriptor that this process sees).
std::optional<VethPeer> FindVethPeer(const std::string& interface);

}  // namespace viaduct::xdp
