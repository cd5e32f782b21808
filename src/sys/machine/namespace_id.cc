#include "sys/machine/namespace_id.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "sys/network/netns.h"
#include "sys/process/process.h"

namespace viaduct::sys {
namespace {

constexpr int kNetnsCookie = 71;  // SO_NETNS_COOKIE of asm-generic/socket.h
// The number of times that processes are searched and ended: processes may fork while others are
// being ended.
constexpr int kRounds = 5;

// Opens the namespace that is mounted on a file, or to which a link in /proc leads, if this
// namespace has the requested identity.
UniqueFd OpenIfIs(const std::string& path, const NamespaceId& wanted) {
  UniqueFd found(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!found || NamespaceInode(found.get()) != wanted.inode) return {};
  return IdentifyNamespace(found.get()) == wanted ? std::move(found) : UniqueFd();
}

// Returns the files on which, by the lines of mountinfo (proc_pid_mountinfo(5)), the namespace is
// mounted.
std::vector<std::string> MountPoints(const std::string& mountinfo, uint64_t inode) {
  std::vector<std::string> points;
  const std::string wanted = fmt::format("net:[{}]", inode);
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string id, parent, device, root, point;
    if (words >> id >> parent >> device >> root >> point && root == wanted) points.push_back(point);
  }
  return points;
}

}  // namespace

NamespaceId IdentifyNamespace(int namespace_fd) {
  NamespaceId id{NamespaceInode(namespace_fd), 0};
  const NamespaceScope scope(namespace_fd);
  const UniqueFd inside(SystemCall("socket", socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
  socklen_t length = sizeof id.cookie;
  if (getsockopt(inside.get(), SOL_SOCKET, kNetnsCookie, &id.cookie, &length) != 0) id.cookie = 0;
  return id;
}

std::vector<NamespaceMount> MountsOfNamespace(uint64_t inode) {
  std::vector<NamespaceMount> mounts;
  std::set<ino_t> seen;
  for (const int pid : AllProcesses()) {
    struct stat status;
    if (stat(fmt::format("/proc/{}/ns/mnt", pid).c_str(), &status) != 0) continue;
    if (!seen.insert(status.st_ino).second) continue;
    const std::string text = ReadFileIfAny(fmt::format("/proc/{}/mountinfo", pid));
    for (const std::string& point : MountPoints(text, inode)) mounts.push_back({pid, point});
  }
  return mounts;
}

UniqueFd FindNamespace(const NamespaceId& wanted) {
  if (UniqueFd own = OpenIfIs("/proc/thread-self/ns/net", wanted)) return own;
  for (const int pid : AllProcesses()) {
    if (UniqueFd found = OpenIfIs(fmt::format("/proc/{}/ns/net", pid), wanted)) return found;
  }
  for (const auto& [pid, path] : MountsOfNamespace(wanted.inode)) {
    if (UniqueFd found = OpenIfIs(fmt::format("/proc/{}/root{}", pid, path), wanted)) return found;
  }
  return {};
}

void EndProcessesIn(const std::set<uint64_t>& inodes, Duration timeout) {
  for (int round = 0; !inodes.empty(); ++round) {
    const std::vector<int> pids = ProcessesInNamespaces(inodes);
    if (pids.empty()) return;
    if (round == kRounds)
      throw Error(fmt::format("processes {} do not exit", fmt::join(pids, ", ")));
    TerminateProcesses(pids, round == 0 ? timeout : Duration());
  }
}

}  // namespace viaduct::sys
