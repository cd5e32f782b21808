// Network namespaces by identity, for records that outlive their makers.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/time.h"

namespace viaduct::sys {

// The identity of a namespace. The inode's number is reused for another namespace once this one is
// gone, the cookie never (SO_NETNS_COOKIE, Linux 5.14; 0: this kernel has none).
struct NamespaceId {
  uint64_t inode = 0;
  uint64_t cookie = 0;

  bool operator==(const NamespaceId&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NamespaceId, inode, cookie)

// Returns the identity of a namespace. Throws SystemError. Needs CAP_SYS_ADMIN, unless it is the
// calling thread's namespace.
NamespaceId IdentifyNamespace(int namespace_fd);

// Returns the namespace, found as the calling thread's, a process's, or a named one, in any mount
// namespace; nothing if it is gone, or if only descriptors keep it.
UniqueFd FindNamespace(const NamespaceId& wanted);

// A file on which a namespace is mounted.
struct NamespaceMount {
  int pid = 0;       // a process in the mount namespace of the file
  std::string path;  // in that mount namespace
};
// Returns the mounts in every mount namespace that a process is in.
std::vector<NamespaceMount> MountsOfNamespace(uint64_t inode);

// Ends all processes in these namespaces (by inode), other than this one: SIGTERM, then SIGKILL.
// The caller must hold the namespaces open, so that their numbers are not reused. Throws Error
// naming the processes that remain.
void EndProcessesIn(const std::set<uint64_t>& inodes, Duration timeout);

}  // namespace viaduct::sys
