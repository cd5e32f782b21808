// Identifies processes by pid and start time, because a pid is reused, but not together with the
// same start time. Functions that read /proc throw SystemError if descriptors or memory are short,
// so that a process is not considered dead because of a shortage.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/time.h"

namespace viaduct::sys {

// Returns the clock ticks since boot at which the process started; 0: there is no such process. The
// result is the same in all time namespaces (time_namespaces(7)), except for one tick if their
// clocks differ by fractions of a tick.
uint64_t ProcessStartTime(int pid);
uint64_t OwnStartTime();  // works even if /proc shows another pid namespace
// Returns field 22 of the text of /proc/PID/stat, which counts in the time namespace of the process
// that reads the file; 0 if the text is malformed. (The program's name within the text may contain
// any characters.)
uint64_t ParseStartTime(std::string_view stat);
// Whether the process with this pid and a start time that differs by at most one tick still runs: a
// pid is never reused within two ticks.
bool ProcessAlive(int pid, uint64_t start_time);
// Whether the text of /proc/PID/stat describes a process that no longer runs: a zombie, or a
// process that the kernel is dismantling, which may take a while (eBPF programs, memory, many
// sockets).
bool HasEnded(std::string_view stat);

// Returns all processes that /proc shows.
std::vector<int> AllProcesses();

// Returns all descendants of this process, from /proc. The result is complete if this process is a
// child subreaper (PR_SET_CHILD_SUBREAPER), whose children orphans become.
std::vector<int> Descendants();

// Opens a pidfd (pidfd_open(2)), which is readable when the process has ended. Throws SystemError
// (ESRCH: no such process).
UniqueFd OpenPidFd(int pid);

// Ends a process created by fork(), without destructors, exit handlers or the actions that a
// sanitizer performs in _exit(2): a sanitizer would report the parent's threads as leaked and
// change the exit status.
[[noreturn]] void ExitForked(int status);

// Sends SIGTERM to all processes, then SIGKILL to those that still run after `timeout`. Returns
// when all have ended (according to /proc, for processes that are not children of this process), at
// the latest a second after SIGKILL. If descriptors are short, handles the processes in several
// groups, one after another.
void TerminateProcesses(const std::vector<int>& pids, Duration timeout);

// AllowHighestPriority() allows a process (0: this process), and the processes that it starts
// later, to call TakeHighestPriority(), which sets the scheduling priority of a process that must
// run on time (nice -20) and returns the nice value in effect. AllowHighestPriority() needs
// CAP_SYS_RESOURCE. If the machine (a container) forbids both, the functions do not throw: the
// process then only runs later.
void AllowHighestPriority(pid_t pid = 0);
int TakeHighestPriority();

// Gives this process's session the weight of nice -20 among the sessions, if this process leads the
// session (setsid(2)); leaves a session that another process leads as it is. If the kernel
// distributes processor time by session (sched_autogroup_enabled, sched(7)), nice values only count
// within a session. Needs the limit that AllowHighestPriority() sets and a writable /proc/self:
// must be called before privileges are dropped. Returns whether the weight was set.
bool FavourOwnSession();

}  // namespace viaduct::sys
