// Processes by identity: a pid alone is reused, a pid with its start time is not. Functions that
// read /proc throw SystemError if descriptors or memory are short: no process is then taken for
// dead.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/time.h"

namespace viaduct::sys {

// Returns the clock ticks since boot at which the process started, the same in all time namespaces
// (time_namespaces(7)), except for one tick if their clocks differ by fractions of one; 0: no such
// process.
uint64_t ProcessStartTime(int pid);
uint64_t OwnStartTime();  // works even if /proc shows another pid namespace
// Returns field 22 of the text of /proc/PID/stat, which counts in the reader's time namespace; 0
// when malformed. (The program's name within the text may contain any characters.)
uint64_t ParseStartTime(std::string_view stat);
// Whether the process with this pid and start time, give or take a tick, still runs: within two
// ticks no pid is reused.
bool ProcessAlive(int pid, uint64_t start_time);
// Whether the text of /proc/PID/stat is of a process that no longer runs: a zombie, or one that the
// kernel is taking down, for which it may need a while (eBPF programs, memory, many sockets).
bool HasEnded(std::string_view stat);

// Returns all processes that /proc shows.
std::vector<int> AllProcesses();

// Returns all descendants of this process, from /proc. Complete if this process is a child
// subreaper (PR_SET_CHILD_SUBREAPER): an orphan then becomes its child.
std::vector<int> Descendants();

// Opens a pidfd (pidfd_open(2)), which is readable when the process ends. Throws SystemError
// (ESRCH).
UniqueFd OpenPidFd(int pid);

// Ends a process created by fork(), without destructors, exit handlers or the actions of a
// sanitizer in _exit(2): it would report the parent's threads as leaked and change the status.
[[noreturn]] void ExitForked(int status);

// Sends SIGTERM to all, then SIGKILL to those that remain after `timeout`. Returns when all have
// ended (for processes that are not children of this one, according to /proc), at the latest a
// second after SIGKILL; if descriptors are short, handles the processes in several groups, one
// after another.
void TerminateProcesses(const std::vector<int>& pids, Duration timeout);

// The scheduling priority of a process that must run on time (nice -20). The process for which
// Allow... is called (0: this process), and the processes that it then starts, may call Take...,
// which returns the nice value in effect. Allow... needs CAP_SYS_RESOURCE. If the machine (a
// container) forbids both, that is no error: the process only runs later.
void AllowHighestPriority(pid_t pid = 0);
int TakeHighestPriority();

// Gives this process's session the weight of nice -20 among the sessions, if this process leads it
// (setsid(2)); a session led by another process is left alone. If the kernel distributes processor
// time by session (sched_autogroup_enabled, sched(7)), nice values only count within a session.
// Needs the limit that AllowHighestPriority() sets and a writable /proc/self: must be called before
// dropping privileges. Returns whether it was done.
bool FavourOwnSession();

}  // namespace viaduct::sys
