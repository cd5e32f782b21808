// The file system that the programs of a node see: the host's files with a writable layer for each
// node.
#pragma once

#include <string>

#include "base/fd.h"

namespace viaduct::guest::inside {

// The descriptors of a node's mount and UTS namespaces.
struct NodeFilesystem {
  UniqueFd mounts, host_name;
};

// Creates the file system of a node. Its root is an overlay: the guest's root is the lower layer, a
// tmpfs of the node the upper layer; /run is empty, and /proc, /sys and /dev are the guest
// kernel's. The host name is the node's name. Files that programs write disappear with the guest
// and never reach the host. Throws SystemError.
NodeFilesystem MakeNodeFilesystem(const std::string& node, int network);

}  // namespace viaduct::guest::inside
