// Processes by identity, for records that processes in other pid namespaces also read.
#pragma once

#include <cstdint>

namespace viaduct::sys {

// The identity of a process. A pid is a number in its namespace (pid_namespaces(7)), and is reused;
// together with the start time it is unique.
struct ProcessIdentity {
  int pid = 0;                 // the process's number in pid_namespace
  uint64_t start_time = 0;     // ProcessStartTime()
  uint64_t pid_namespace = 0;  // the namespace's inode number

  bool operator==(const ProcessIdentity&) const = default;
};

// Returns the identity of the calling process.
ProcessIdentity OwnIdentity();

// The state of a process. kUnknown: the process belongs to a pid namespace whose processes this
// process cannot see or may not inspect.
enum class Life { kDead, kAlive, kUnknown };
// Returns the state of a process; a zombie is dead. Throws SystemError if descriptors or memory are
// short.
Life LifeOf(const ProcessIdentity& process);

}  // namespace viaduct::sys
