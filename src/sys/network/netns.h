// Network namespaces: named ones as in `ip netns`, and entering them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.h"

namespace viaduct::sys {

// The directory in which named namespaces are bind-mounted (iproute2's).
inline constexpr std::string_view kNamespaceDirectory = "/run/netns";

std::string NamespacePath(const std::string& name);
bool NamespaceExists(const std::string& name);

// Makes the directory of the names a shared mount point, unless it is one; the functions below do
// that themselves.
void PrepareNamespaceDirectory();

// Makes a named namespace with its loopback down. The caller's own namespace does not change: a
// short-lived thread unshares. Throws SystemError (EEXIST if the name is taken).
void CreateNamespace(const std::string& name);

// Makes a named namespace and moves the calling thread into it, which needs no further thread: for
// processes that keep account of their namespace. Returns its descriptor. Throws SystemError, after
// which the thread may be in a namespace without name. PrepareNamespaceDirectory() must be called
// before the first call.
UniqueFd EnterNewNamespace(const std::string& name);

// Makes a namespace without a name, with its loopback down: it exists as long as something is in it
// or holds the descriptor.
UniqueFd CreateNamelessNamespace();

// Gives an existing namespace a name, and does nothing else. Throws as above.
void NameNamespace(int namespace_fd, const std::string& name);

// Removes the name; the kernel destroys the namespace, asynchronously, once no process, socket or
// descriptor is left in it. A name that is already gone is no error.
void DeleteNamespace(const std::string& name);

// Return a descriptor of a named namespace, of the calling thread's, of a process's. Throw
// SystemError.
UniqueFd OpenNamespace(const std::string& name);
UniqueFd OpenCurrentNamespace();
UniqueFd OpenNamespaceOfProcess(int pid);
// Opens the network namespace of that name (ip netns) or pid for this user, who must be the owner
// of its user namespace, unless the user is root: a user who may send requests to a process of root
// must not get at other users' networks. Throws UsageError, EnvironmentError, SystemError.
UniqueFd OpenUsersNamespace(const std::string& name, uid_t user, const std::string& what);

// Returns the number that identifies a namespace (`readlink /proc/PID/ns/net`).
uint64_t NamespaceInode(int namespace_fd);

// Returns the processes in any of these namespaces (by inode), without the caller's own process.
// Processes that cannot be inspected (of other users, zombies) are not listed.
std::vector<int> ProcessesInNamespaces(const std::set<uint64_t>& inodes);

// Puts the calling thread into another namespace while this object exists (enters none, and needs
// no privilege, if that is the thread's own). Does not nest across threads: destroy it on the
// thread that made it. The process ends if the way back is barred (it never is).
class NamespaceScope {
 public:
  explicit NamespaceScope(int namespace_fd);
  ~NamespaceScope();
  NamespaceScope(const NamespaceScope&) = delete;
  NamespaceScope& operator=(const NamespaceScope&) = delete;

 private:
  UniqueFd previous_;
};

// Runs `work` on a separate thread, so that unshare(2) and setns(2) affect no other thread.
// Rethrows what it throws.
void OnOwnThread(const std::function<void()>& work);
// Runs `work` like OnOwnThread(), in a new nameless namespace that vanishes afterwards; for probes.
void InScratchNamespace(const std::function<void()>& work);

}  // namespace viaduct::sys
