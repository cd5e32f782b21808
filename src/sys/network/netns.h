// Creates, names and enters network namespaces; named ones are compatible with `ip netns`.
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

// The directory in which named namespaces are bind-mounted (the directory of iproute2).
inline constexpr std::string_view kNamespaceDirectory = "/run/netns";

std::string NamespacePath(const std::string& name);
bool NamespaceExists(const std::string& name);

// Makes the directory of names a shared mount point, unless it is one already. CreateNamespace()
// and NameNamespace() do this without being asked.
void PrepareNamespaceDirectory();

// Makes a named namespace in which the loopback interface is down. The calling thread's namespace
// does not change: a short-lived thread calls unshare(2). Throws SystemError (EEXIST if the name is
// taken).
void CreateNamespace(const std::string& name);

// Makes a named namespace and moves the calling thread into it, so that no further thread is
// needed. For processes that record which namespace they are in. Returns the namespace's
// descriptor. Throws SystemError, and in that case the thread may be in a namespace without a name.
// PrepareNamespaceDirectory() must be called before the first call.
UniqueFd EnterNewNamespace(const std::string& name);

// Makes a namespace without a name, in which the loopback interface is down. The namespace exists
// as long as a process or socket is in it or the descriptor is open.
UniqueFd CreateNamelessNamespace();

// Gives an existing namespace a name. Throws SystemError (EEXIST if the name is taken).
void NameNamespace(int namespace_fd, const std::string& name);

// Removes the name; the kernel destroys the namespace, asynchronously, once no process, socket or
// descriptor of it exists. A missing name is not an error.
void DeleteNamespace(const std::string& name);

// Return a descriptor of a namespace: of a named namespace, the calling thread's, or a process's.
// Throw SystemError.
UniqueFd OpenNamespace(const std::string& name);
UniqueFd OpenCurrentNamespace();
UniqueFd OpenNamespaceOfProcess(int pid);
// Opens the network namespace of that name (ip netns) or pid for this user, who must be root or the
// owner of the namespace's user namespace: a user who may send requests to a process of root must
// not be able to enter other users' networks. Throws UsageError, EnvironmentError, SystemError.
UniqueFd OpenUsersNamespace(const std::string& name, uid_t user, const std::string& what);

// Returns the inode number that identifies a namespace (`readlink /proc/PID/ns/net`).
uint64_t NamespaceInode(int namespace_fd);

// Returns the processes that are in any of the namespaces with these inode numbers, except for the
// calling process. Processes that cannot be inspected (of other users, zombies) are not returned.
std::vector<int> ProcessesInNamespaces(const std::set<uint64_t>& inodes);

// Puts the calling thread into another namespace while this object exists. Does nothing, and needs
// no privilege, if that is the thread's own namespace. Must be destroyed on the thread that made
// it. The process ends if the thread cannot return to its namespace (which never happens).
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
// Rethrows exceptions of `work`.
void OnOwnThread(const std::function<void()>& work);
// Runs `work` like OnOwnThread(), in a new nameless namespace that is removed afterwards; for
// probes.
void InScratchNamespace(const std::function<void()>& work);

}  // namespace viaduct::sys
