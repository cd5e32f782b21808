#include "sys/process/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/shortage.h"

namespace viaduct::sys {
namespace {

std::string ReadStat(const std::string& process) {
  const UniqueFd file(open(("/proc/" + process + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && IsShortage(errno)) throw SystemError("open /proc/" + process, errno);
  if (!file) return "";
  std::array<char, 4096> buffer;
  const ssize_t length = read(file.get(), buffer.data(), buffer.size());
  return length <= 0 ? "" : std::string(buffer.data(), static_cast<size_t>(length));
}

// Returns field `number` (1-based, at least 3) of a stat line. The name (field 2) is in parentheses
// and may itself contain spaces and parentheses, so counting starts after the last parenthesis.
std::string_view StatField(std::string_view stat, int number) {
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return {};
  std::string_view rest = stat.substr(name_end + 1);
  for (int field = 3;; ++field) {
    const size_t start = rest.find_first_not_of(" \n");
    if (start == std::string_view::npos) return {};
    const size_t end = std::min(rest.find_first_of(" \n", start), rest.size());
    if (field == number) return rest.substr(start, end - start);
    rest = rest.substr(end);
  }
}

// Returns a field that is a number; 0 if the field is malformed.
template <class Integer>
Integer StatNumber(std::string_view stat, int number) {
  const std::string_view field = StatField(stat, number);
  Integer value = 0;
  const auto [end, error] = std::from_chars(field.begin(), field.end(), value);
  return error == std::errc() && end == field.end() ? value : 0;
}

// Returns the clock ticks that this process's time namespace adds to times since boot. The file
// describes the time namespace of this process's children, which is this process's namespace, too,
// unless the process has called unshare(2) since it was executed.
int64_t AddedTicks() {
  constexpr int64_t kSecond = 1'000'000'000;
  const int64_t tick = kSecond / sysconf(_SC_CLK_TCK);
  std::istringstream lines(ReadFileIfAny("/proc/self/timens_offsets"));
  int64_t seconds = 0, nanoseconds = 0;
  for (std::string clock; lines >> clock >> seconds >> nanoseconds;) {
    if (clock != "boottime" && clock != "7") continue;  // CLOCK_BOOTTIME
    // Rounds down, also if the offset is negative, because the kernel's nanoseconds are never
    // negative.
    return seconds * (kSecond / tick) + nanoseconds / tick;
  }
  return 0;
}

uint64_t StartTimeOf(std::string_view stat) {
  const uint64_t shown = ParseStartTime(stat);
  return shown == 0 ? 0 : shown - static_cast<uint64_t>(AddedTicks());
}

// Returns the children of each process; the key is the parent's pid.
std::multimap<int, int> ProcessTree() {
  std::multimap<int, int> children;
  for (const int pid : AllProcesses()) {
    if (const int parent = StatNumber<int>(ReadStat(std::to_string(pid)), 4); parent > 0) {
      children.emplace(parent, pid);
    }
  }
  return children;
}

struct Victim {
  UniqueFd fd;
  bool gone = false;
};

void SignalAll(const std::vector<Victim>& victims, int signal) {
  for (const Victim& victim : victims) {
    if (!victim.gone) syscall(SYS_pidfd_send_signal, victim.fd.get(), signal, nullptr, 0);
  }
}

// Waits until all processes have ended or `timeout` has passed; returns whether all have ended.
bool AwaitEnd(std::vector<Victim>& victims, Duration timeout) {
  const Instant deadline = MonotonicClock::Now() + timeout;
  for (Victim& victim : victims) {
    if (victim.gone) continue;
    const Duration left = std::max(deadline - MonotonicClock::Now(), Duration());
    pollfd entry{victim.fd.get(), POLLIN, 0};
    const int milliseconds = static_cast<int>((left.nanoseconds() + 999999) / 1000000);
    victim.gone = poll(&entry, 1, milliseconds) > 0;
  }
  return std::all_of(victims.begin(), victims.end(), [](const Victim& v) { return v.gone; });
}

void Terminate(std::vector<Victim>& victims, Duration timeout) {
  SignalAll(victims, SIGTERM);
  if (AwaitEnd(victims, timeout)) return;
  SignalAll(victims, SIGKILL);
  AwaitEnd(victims, Duration::Seconds(1));
}

}  // namespace

uint64_t ParseStartTime(std::string_view stat) { return StatNumber<uint64_t>(stat, 22); }

uint64_t ProcessStartTime(int pid) { return StartTimeOf(ReadStat(std::to_string(pid))); }

uint64_t OwnStartTime() { return StartTimeOf(ReadStat("self")); }

bool ProcessAlive(int pid, uint64_t start_time) {
  if (pid <= 0 || start_time == 0) return false;
  const std::string stat = ReadStat(std::to_string(pid));
  if (HasEnded(stat)) return false;
  const uint64_t its = StartTimeOf(stat);
  return its != 0 && its + 1 >= start_time && its <= start_time + 1;
}

bool HasEnded(std::string_view stat) {
  constexpr uint64_t kExiting = 4;  // PF_EXITING of the kernel's include/linux/sched.h
  const std::string_view state = StatField(stat, 3);
  return state == "Z" || state == "X" || (StatNumber<uint64_t>(stat, 9) & kExiting) != 0;
}

std::vector<int> AllProcesses() {
  std::vector<int> pids;
  std::error_code error;
  const std::filesystem::directory_iterator entries("/proc", error);
  if (error && IsShortage(error.value())) throw SystemError("list /proc", error.value());
  for (const auto& entry : entries) {
    const std::string name = entry.path().filename();
    int pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec == std::errc()) {
      pids.push_back(pid);
    }
  }
  return pids;
}

std::vector<int> Descendants() {
  const auto children = ProcessTree();
  std::vector<int> found{getpid()};
  for (size_t i = 0; i < found.size(); ++i) {
    const auto [first, last] = children.equal_range(found[i]);
    for (auto it = first; it != last; ++it) found.push_back(it->second);
  }
  found.erase(found.begin());
  return found;
}

void ExitForked(int status) {
  while (true) syscall(SYS_exit_group, status);
}

UniqueFd OpenPidFd(int pid) {
  return UniqueFd(SystemCall("open process " + std::to_string(pid),
                             static_cast<int>(syscall(SYS_pidfd_open, pid, 0))));
}

void TerminateProcesses(const std::vector<int>& pids, Duration timeout) {
  // Handles as many processes at a time as descriptors are available.
  for (auto next = pids.begin(); next != pids.end();) {
    std::vector<Victim> victims;
    for (; next != pids.end(); ++next) {
      const int fd = static_cast<int>(syscall(SYS_pidfd_open, *next, 0));
      if (fd >= 0) victims.push_back({UniqueFd(fd), false});
      if (fd >= 0 || !IsShortage(errno)) continue;
      if (victims.empty()) throw SystemError("open process " + std::to_string(*next), errno);
      break;
    }
    Terminate(victims, timeout);
  }
}

void AllowHighestPriority(pid_t pid) {
  // RLIMIT_NICE counts from 1 (nice 19) to 40 (nice -20): getrlimit(2).
  const rlimit limit{40, 40};
  prlimit(pid, RLIMIT_NICE, &limit, nullptr);
}

int TakeHighestPriority() {
  // A structure with the members of struct sched_attr of linux/sched/types.h, which not all C
  // libraries have.
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
  } wish{};
  wish.size = sizeof wish;
  wish.nice = -20;
  // Requests a slice of 0.1 ms: since Linux 6.12 a task that wakes up preempts a task with a longer
  // slice. With a high priority only, the task would wait until the next tick
  // (kernel/sched/features.h, PREEMPT_SHORT).
  wish.runtime = 100000;
  if (syscall(SYS_sched_setattr, 0, &wish, 0U) != 0) {
    setpriority(PRIO_PROCESS, 0, -20);
    wish.nice = getpriority(PRIO_PROCESS, 0);
    syscall(SYS_sched_setattr, 0, &wish, 0U);
  }
  return getpriority(PRIO_PROCESS, 0);
}

bool FavourOwnSession() {
  if (getsid(0) != getpid()) return false;
  const UniqueFd file(open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC));
  return file && write(file.get(), "-20", 3) == 3;
}

}  // namespace viaduct::sys
