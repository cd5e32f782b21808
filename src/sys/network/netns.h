// Network namespaces: named ones as `ip netns` knows them, and entering them.
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

// Where named namespaces are bind-mounted (iproute2's directory).
inline constexpr std::string_view kNamespaceDirectory = "/run/netns";

std::string NamespacePath(const std::string& name);
bool NamespaceExists(const std::string& name);

// Makes the directory of the names one, unless it is, as the functions below do themselves.
void PrepareNamespaceDirectory();

// Makes a named namespace. The caller's own namespace is not touched: a short-lived thread
// unshares. Throws SystemError (EEXIST where the name is taken). Its loopback is down.
void CreateNamespace(const std::string& name);

// Makes a named namespace and moves the calling thread into it, which spares a thread: for
// processes that keep account of where they are. Returns its descriptor. Throws SystemError, after
// which the thread may be in a namespace without name.
// PrepareNamespaceDirectory() comes before the first.
UniqueFd EnterNewNamespace(const std::string& name);

// A namespace without a name: it lives as long as something is in it or holds the descriptor. Its
// loopback is down.
UniqueFd CreateNamelessNamespace();

// Gives a namespace that is there already a name, and nothing else. Errors as above.
void NameNamespace(int namespace_fd, const std::string& name);

// Takes the name away; the kernel destroys the namespace, asynchronously, once no process, socket
// or descriptor is left in it. A name that is already gone is no error.
void DeleteNamespace(const std::string& name);

// A descriptor of a named namespace, of the calling thread's, of a process's. Throws SystemError.
UniqueFd OpenNamespace(const std::string& name);
UniqueFd OpenCurrentNamespace();
UniqueFd OpenNamespaceOfProcess(int pid);
// Opens the network namespace of that name (ip netns) or pid, for this user, whose it has to be
// (its user namespace's owner) unless that is root: whoever may ask a process of root's for
// something must not get at others' networks by that. Throws UsageError, EnvironmentError,
// SystemError.
UniqueFd OpenUsersNamespace(const std::string& name, uid_t user, const std::string& what);

// The number that identifies a namespace (`readlink /proc/PID/ns/net`).
uint64_t NamespaceInode(int namespace_fd);

// Processes that live in any of these namespaces (by inode), the caller's own process excepted.
// Processes that cannot be looked at (not ours, zombies) are not listed.
std::vector<int> ProcessesInNamespaces(const std::set<uint64_t>& inodes);

// While it lives, the calling thread is in another namespace (none is entered, and no privilege
// needed, where that is its own). Does not nest across threads: destroy
// it on the thread that made it. The process ends if the way back is barred (it never is).
class NamespaceScope {
 public:
  explicit NamespaceScope(int namespace_fd);
  ~NamespaceScope();
  NamespaceScope(const NamespaceScope&) = delete;
  NamespaceScope& operator=(const NamespaceScope&) = delete;

 private:
  UniqueFd previous_;
};

// Runs `work` on a thread of its own, so that unshare(2) and setns(2) concern nobody else. Rethrows
// what it throws.
void OnOwnThread(const std::function<void()>& work);
// The same in a new nameless namespace that vanishes afterwards; for probes.
void InScratchNamespace(const std::function<void()>& work);

}  // namespace viaduct::sys
