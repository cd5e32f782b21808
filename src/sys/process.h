// Processes by identity: a pid alone is reused, a pid with its start time is not.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/time.h"

namespace viaduct::sys {

// Clock ticks since boot at which the process started (field 22 of /proc/PID/stat); 0: no such
// process.
uint64_t ProcessStartTime(int pid);
// The same, from the text of the file; 0 when malformed. (The name in it may hold anything.)
uint64_t ParseStartTime(std::string_view stat);
// Whether the process that had this pid and start time still runs (a zombie does not).
bool ProcessAlive(int pid, uint64_t start_time);

// pidfd_open(2): readable when the process ends. Throws SystemError (ESRCH).
UniqueFd OpenPidFd(int pid);

// Ends a process that fork() made of this one, and nothing else: no destructors, no exit handlers,
// and not what a sanitizer does in _exit(2), which takes the parent's ended threads for leaked ones
// and changes the status.
[[noreturn]] void ExitForked(int status);

// SIGTERM to all, then SIGKILL to those that remain after `patience`; returns when all are gone
// (those that are not our children: until /proc says so), at the latest a second after SIGKILL.
void TerminateProcesses(const std::vector<int>& pids, Duration patience);

// Scheduling priority of a process that must run on time (nice -20). Allow... as root, before
// giving root up: then this process and those it starts may Take... it. Returns the nice value in
// effect: a machine that forbids both (a container) is no error, only later.
void AllowHighestPriority();
int TakeHighestPriority();

// Where the kernel shares processor time out by session (sched_autogroup_enabled, sched(7)), nice
// counts within one only. Gives this process's session the weight of nice -20 beside the others, if
// this process leads it (setsid(2)); somebody else's session is not ours to favour. Needs what
// AllowHighestPriority() gives, and /proc/self still to be writable: before giving root up.
// Whether it was done.
bool FavourOwnSession();

}  // namespace viaduct::sys
