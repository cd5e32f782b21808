// The file system that the programs of a node see: the host's files with a writable layer for each
// node.
#pragma once

#include <string>

#include "base/fd.h"

namespace viaduct::guest::inside {

// The mount and UTS namespaces of a node.
struct NodeFilesystem {
  UniqueFd mounts, host_name;
};

// Makes the file system of a node. The root is an overlay: the guest's root below, a tmpfs of the
// node above; /run is empty, /proc, /sys and /dev are this kernel's. The host name is the node's.
// Files that programs write disappear with the guest and never reach the host. Throws SystemError.
NodeFilesystem MakeNodeFilesystem(const std::string& node, int network);

}  // namespace viaduct::guest::inside
