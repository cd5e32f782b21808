// Identifies network namespaces, for records that outlive the processes that make them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/time.h"

namespace viaduct::sys {

// The identity of a namespace. The inode number is reused for another namespace once this namespace
// is gone; the cookie is never reused (SO_NETNS_COOKIE, Linux 5.14; 0: this kernel has no cookies).
struct NamespaceId {
  uint64_t inode = 0;
  uint64_t cookie = 0;

  bool operator==(const NamespaceId&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NamespaceId, inode, cookie)

// Returns the identity of a namespace. Throws SystemError. Needs CAP_SYS_ADMIN, except for the
// calling thread's namespace.
NamespaceId IdentifyNamespace(int namespace_fd);

// Returns a descriptor of the namespace if it is the namespace of the calling thread or of another
// process, or has a name in any mount namespace. Returns nothing if the namespace is gone, or if
// only open descriptors keep it alive.
UniqueFd FindNamespace(const NamespaceId& wanted);

// A file on which a namespace is mounted.
struct NamespaceMount {
  int pid = 0;       // a process in the mount namespace of the file
  std::string path;  // the file's path in that mount namespace
};
// Returns the files on which a namespace is mounted, in every mount namespace that a process is in.
std::vector<NamespaceMount> MountsOfNamespace(uint64_t inode);

// Ends all processes in the namespaces with these inode numbers, except this process: sends
// SIGTERM, then SIGKILL. The caller must hold the namespaces open, so that their inode numbers are
// not reused. Throws Error naming the processes that still run.
void EndProcessesIn(const std::set<uint64_t>& inodes, Duration timeout);

}  // namespace viaduct::sys
