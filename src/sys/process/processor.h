// Binds threads to processors, and selects the kernel's treatment of a thread that must run on
// time: its scheduling class, and whether its memory may be paged out (sched(7), mlock(2)).
#pragma once

#include <sched.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace viaduct::sys {

// Makes the calling thread run only on this processor. Throws SystemError.
void BindToProcessor(int processor);

// Binds the calling thread and the processes that it starts to one processor until the lease ends:
// for processes that run alternately and would otherwise pay for wake-ups across processors. No two
// leases in this network namespace are for the same processor, and a lease ends with its process.
// The thread that took a lease must end it.
class ProcessorLease {
 public:
  // Leases the processor that this thread runs on, or else any other processor that the thread may
  // use. Returns nothing if all these processors are leased. Throws SystemError.
  static std::optional<ProcessorLease> Take();
  ProcessorLease(ProcessorLease&& other) noexcept = default;
  ProcessorLease& operator=(ProcessorLease&& other) noexcept = default;
  // Restores the set of processors that the thread could use before the lease.
  ~ProcessorLease();

  int processor() const { return processor_; }

 private:
  ProcessorLease(int processor, UniqueFd claim, const cpu_set_t& before);

  int processor_;
  UniqueFd claim_;
  cpu_set_t before_;
};

// Parses a list of processors in the format of taskset(1), "0,2-3"; the list must not be empty.
// Throws UsageError.
cpu_set_t ParseProcessors(std::string_view text);

struct ThreadPolicy {
  // The processors, in the format of ParseProcessors(). Empty: the processors that the thread may
  // use now.
  std::string processors;
  int fifo_priority = 0;     // 1 to 99: SCHED_FIFO with this priority; 0: unchanged
  bool lock_memory = false;  // locks the present and future memory of the process
};

// Gives the calling thread a policy while this object exists; threads that it starts inherit the
// policy. Memory, too, is locked only while this object exists.
class ThreadPolicyScope {
 public:
  // Throws UsageError, or SystemError (naming the required permission) if the policy is not
  // permitted; after an exception nothing has changed.
  explicit ThreadPolicyScope(const ThreadPolicy& policy);
  ThreadPolicyScope(const ThreadPolicyScope&) = delete;
  ThreadPolicyScope& operator=(const ThreadPolicyScope&) = delete;
  ~ThreadPolicyScope();

 private:
  struct Scheduling {
    int policy;
    sched_param parameters;
  };
  void Apply(const ThreadPolicy& policy);
  void Restore();

  // The processors of the thread before the policy was set.
  std::optional<cpu_set_t> processors_;
  // The scheduling of the thread before the policy was set.
  std::optional<Scheduling> scheduling_;
  bool locked_ = false;
};

}  // namespace viaduct::sys
