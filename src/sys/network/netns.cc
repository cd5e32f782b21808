#include "sys/network/netns.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>

#include "base/error.h"

namespace viaduct::sys {
namespace {

constexpr char kThreadNamespace[] = "/proc/thread-self/ns/net";

UniqueFd OpenPath(const std::string& path, const std::string& attempted) {
  return UniqueFd(SystemCall(attempted, open(path.c_str(), O_RDONLY | O_CLOEXEC)));
}

}  // namespace

// Makes the directory of names a shared mount point, as `ip netns add` does, so that names appear
// in every mount namespace.
void PrepareNamespaceDirectory() {
  const std::string directory(kNamespaceDirectory);
  if (mkdir(directory.c_str(), 0755) < 0 && errno != EEXIST) {
    throw SystemError("mkdir " + directory, errno);
  }
  if (mount("", directory.c_str(), "none", MS_SHARED | MS_REC, nullptr) == 0) return;
  if (errno != EINVAL) throw SystemError("mount --make-shared " + directory, errno);
  SystemCall("mount --bind " + directory,
             mount(directory.c_str(), directory.c_str(), "none", MS_BIND | MS_REC, nullptr));
  SystemCall("mount --make-shared " + directory,
             mount("", directory.c_str(), "none", MS_SHARED | MS_REC, nullptr));
}

void OnOwnThread(const std::function<void()>& work) {
  std::exception_ptr failure;
  std::thread thread([&] {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  });
  thread.join();
  if (failure) std::rethrow_exception(failure);
}

std::string NamespacePath(const std::string& name) {
  return std::string(kNamespaceDirectory) + "/" + name;
}

bool NamespaceExists(const std::string& name) {
  return access(NamespacePath(name).c_str(), F_OK) == 0;
}

namespace {

// Makes a name. `mount_it` mounts a namespace on the name's file, whose path is its argument.
void MakeName(const std::string& name, const std::string& attempted,
              const std::function<void(const std::string& path)>& mount_it) {
  const std::string path = NamespacePath(name);
  const UniqueFd file(
      SystemCall(attempted, open(path.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0)));
  try {
    mount_it(path);
  } catch (...) {
    unlink(path.c_str());
    throw;
  }
}

void BindNamespace(const std::string& from, const std::string& path, const std::string& attempted) {
  SystemCall(attempted + " (bind mount)",
             mount(from.c_str(), path.c_str(), "none", MS_BIND, nullptr));
}

}  // namespace

void CreateNamespace(const std::string& name) {
  const std::string attempted = "create network namespace " + name;
  PrepareNamespaceDirectory();
  MakeName(name, attempted, [&](const std::string& path) {
    OnOwnThread([&] {
      SystemCall(attempted + " (unshare)", unshare(CLONE_NEWNET));
      BindNamespace(kThreadNamespace, path, attempted);
    });
  });
}

UniqueFd EnterNewNamespace(const std::string& name) {
  const std::string attempted = "create network namespace " + name;
  MakeName(name, attempted, [&](const std::string& path) {
    SystemCall(attempted + " (unshare)", unshare(CLONE_NEWNET));
    BindNamespace(kThreadNamespace, path, attempted);
  });
  return OpenCurrentNamespace();
}

void NameNamespace(int namespace_fd, const std::string& name) {
  const std::string attempted = "name network namespace " + name;
  PrepareNamespaceDirectory();
  MakeName(name, attempted, [&](const std::string& path) {
    BindNamespace("/proc/self/fd/" + std::to_string(namespace_fd), path, attempted);
  });
}

UniqueFd CreateNamelessNamespace() {
  UniqueFd made;
  OnOwnThread([&] {
    SystemCall("create a network namespace", unshare(CLONE_NEWNET));
    made = OpenCurrentNamespace();
  });
  return made;
}

void DeleteNamespace(const std::string& name) {
  const std::string path = NamespacePath(name);
  // Ignores EINVAL: the file exists but nothing is mounted on it (a creation that was killed
  // half-way).
  if (umount2(path.c_str(), MNT_DETACH) < 0 && errno != EINVAL && errno != ENOENT) {
    throw SystemError("umount " + path, errno);
  }
  if (unlink(path.c_str()) < 0 && errno != ENOENT) throw SystemError("unlink " + path, errno);
}

UniqueFd OpenNamespace(const std::string& name) {
  return OpenPath(NamespacePath(name), "open network namespace " + name);
}

UniqueFd OpenCurrentNamespace() {
  return OpenPath(kThreadNamespace, "open the current network namespace");
}

UniqueFd OpenNamespaceOfProcess(int pid) {
  return OpenPath("/proc/" + std::to_string(pid) + "/ns/net",
                  "open network namespace of process " + std::to_string(pid));
}

namespace {

// Returns the owner of the user namespace to which a network namespace belongs.
uid_t OwnerOf(int network) {
  const UniqueFd users(SystemCall("find the owner of a namespace", ioctl(network, NS_GET_USERNS)));
  uid_t owner = 0;
  SystemCall("find the owner of a namespace", ioctl(users.get(), NS_GET_OWNER_UID, &owner));
  return owner;
}

UniqueFd OpenNamed(const std::string& name, const std::string& what) {
  constexpr size_t kMaxPidDigits = 9;
  try {
    const bool is_pid = !name.empty() && name.size() <= kMaxPidDigits &&
                        std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
    return is_pid ? OpenNamespaceOfProcess(std::stoi(name)) : OpenNamespace(name);
  } catch (const SystemError& error) {
    throw UsageError(what + " " + name + ": " + error.what());
  }
}

}  // namespace

UniqueFd OpenUsersNamespace(const std::string& name, uid_t user, const std::string& what) {
  constexpr size_t kMaxNameLength = 255;
  const bool is_path = name.find('/') != std::string::npos || name == "." || name == ".." ||
                       name.find('\0') != std::string::npos;
  if (name.empty() || is_path || name.size() > kMaxNameLength) {
    throw UsageError(what + ": expected the name of a network namespace (ip netns) or a pid");
  }
  UniqueFd network = OpenNamed(name, what);
  if (ioctl(network.get(), NS_GET_NSTYPE) != CLONE_NEWNET) {
    throw UsageError(what + " " + name + " is not a network namespace");
  }
  if (user != 0 && OwnerOf(network.get()) != user) {
    throw EnvironmentError(what + " " + name +
                           ": this namespace belongs to another user; only root may use it (in a "
                           "root shell, not with sudo)");
  }
  return network;
}

uint64_t NamespaceInode(int namespace_fd) {
  struct stat status;
  SystemCall("stat network namespace", fstat(namespace_fd, &status));
  return status.st_ino;
}

std::vector<int> ProcessesInNamespaces(const std::set<uint64_t>& inodes) {
  std::vector<int> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(opendir("/proc"), closedir);
  if (!proc) throw SystemError("read /proc", errno);
  while (const dirent* entry = readdir(proc.get())) {
    const int pid = atoi(entry->d_name);
    if (pid <= 0 || pid == getpid()) continue;
    struct stat status;
    const std::string path = std::string("/proc/") + entry->d_name + "/ns/net";
    if (stat(path.c_str(), &status) == 0 && inodes.count(status.st_ino) != 0) pids.push_back(pid);
  }
  return pids;
}

NamespaceScope::NamespaceScope(int namespace_fd) : previous_(OpenCurrentNamespace()) {
  if (NamespaceInode(previous_.get()) == NamespaceInode(namespace_fd)) {
    previous_.reset();
    return;
  }
  SystemCall("enter network namespace", setns(namespace_fd, CLONE_NEWNET));
}

NamespaceScope::~NamespaceScope() {
  // Ends the process if the thread cannot return to its namespace: in the wrong namespace it would
  // change other interfaces.
  if (previous_ && setns(previous_.get(), CLONE_NEWNET) < 0) std::terminate();
}

void InScratchNamespace(const std::function<void()>& work) {
  OnOwnThread([&] {
    SystemCall("create a scratch network namespace", unshare(CLONE_NEWNET));
    work();
  });
}

}  // namespace viaduct::sys
