#include "sys/process/process_identity.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <vector>

#include "base/file.h"
#include "sys/process/process.h"

namespace viaduct::sys {
namespace {

// The inode number of the machine's initial pid namespace, PROC_PID_INIT_INO of linux/nsfs.h. All
// processes are visible from that namespace.
constexpr uint64_t kInitialPidNamespace = 0xEFFFFFFC;

// Returns the inode number of a process's pid namespace; 0: the process has ended, or may not be
// inspected.
uint64_t PidNamespaceOf(const std::string& process) {
  struct stat status;
  return stat(("/proc/" + process + "/ns/pid").c_str(), &status) == 0 ? status.st_ino : 0;
}

// Returns a process's pids: the pid in the namespace that /proc shows, the pid in the next inner
// namespace, and so on to the process's namespace.
std::vector<int> PidsOf(const std::string& process) {
  std::istringstream lines(ReadFileIfAny("/proc/" + process + "/status"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    if (!(words >> key) || key != "NSpid:") continue;
    std::vector<int> pids;
    for (int pid; words >> pid;) pids.push_back(pid);
    return pids;
  }
  return {};
}

// Returns the namespace whose pids /proc shows, which is the namespace in which /proc was mounted.
// 0: unknown.
uint64_t PidNamespaceOfProc() { return PidNamespaceOf(PidsOf("self").size() == 1 ? "self" : "1"); }

}  // namespace

ProcessIdentity OwnIdentity() { return {getpid(), OwnStartTime(), PidNamespaceOf("self")}; }

Life LifeOf(const ProcessIdentity& process) {
  const uint64_t seen = PidNamespaceOfProc();
  if (seen == process.pid_namespace) {
    return ProcessAlive(process.pid, process.start_time) ? Life::kAlive : Life::kDead;
  }
  for (const int pid : AllProcesses()) {
    if (!ProcessAlive(pid, process.start_time)) continue;
    const std::vector<int> pids = PidsOf(std::to_string(pid));
    if (pids.empty() || pids.back() != process.pid) continue;
    const uint64_t its = PidNamespaceOf(std::to_string(pid));
    if (its == process.pid_namespace) return Life::kAlive;
    if (its == 0) return Life::kUnknown;
  }
  return seen == kInitialPidNamespace ? Life::kDead : Life::kUnknown;
}

}  // namespace viaduct::sys
