// What the programs of a node see: the host's files with a writable layer of the node's own.
#pragma once

#include <string>

#include "base/fd.h"

namespace viaduct::guest::inside {

// The namespaces of a node but for its network.
struct NodeFilesystem {
  UniqueFd mounts, host_name;
};

// The root is an overlay: the guest's root below, a tmpfs of the node above; /run is empty, /proc,
// /sys and /dev are this kernel's. The host name is the node's. What programs write is lost with
// the guest and never reaches the host. Throws SystemError.
NodeFilesystem MakeNodeFilesystem(const std::string& node, int network);

}  // namespace viaduct::guest::inside
