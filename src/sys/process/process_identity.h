// Processes by identity, for records that processes in other pid namespaces read, too.
#pragma once

#include <cstdint>

namespace viaduct::sys {

// A pid is a number of its namespace (pid_namespaces(7)), and is reused; with the start time it is
// not.
struct ProcessIdentity {
  int pid = 0;                 // in that namespace
  uint64_t start_time = 0;     // ProcessStartTime()
  uint64_t pid_namespace = 0;  // its inode's number

  bool operator==(const ProcessIdentity&) const = default;
};

// The calling process.
ProcessIdentity OwnIdentity();

// kUnknown: it would be in a pid namespace whose processes this one cannot see, or may not look at.
enum class Life { kDead, kAlive, kUnknown };
// A zombie is dead. Throws SystemError where descriptors or memory are short.
Life LifeOf(const ProcessIdentity& process);

}  // namespace viaduct::sys
