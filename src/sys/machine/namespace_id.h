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

// The inode's number is given to another namespace once this one is gone, the cookie never
// (SO_NETNS_COOKIE, Linux 5.14; 0: this kernel has none).
struct NamespaceId {
  uint64_t inode = 0;
  uint64_t cookie = 0;

  bool operator==(const NamespaceId&) const = default;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(NamespaceId, inode, cookie)

// Throws SystemError. Needs CAP_SYS_ADMIN, unless it is the calling thread's own.
NamespaceId IdentifyNamespace(int namespace_fd);

// The namespace itself: the calling thread's, a process's, or one that has a name, in whatever
// mount namespace. None: it is gone, or nothing but descriptors keeps it.
UniqueFd FindNamespace(const NamespaceId& wanted);

// A file on which a namespace is mounted.
struct NamespaceMount {
  int pid = 0;       // of a process in that mount namespace
  std::string path;  // there
};
// In every mount namespace that a process is in.
std::vector<NamespaceMount> MountsOfNamespace(uint64_t inode);

// Ends all processes in these namespaces (by inode), other than this one: SIGTERM, then SIGKILL.
// The caller holds the namespaces, so that their numbers stay theirs. Throws Error that names those
// which remain.
void EndProcessesIn(const std::set<uint64_t>& inodes, Duration timeout);

}  // namespace viaduct::sys
