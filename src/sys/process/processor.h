// The processors of threads, and the kernel's treatment of a thread that must be on time: its
// scheduling class, and whether its memory may be paged out (sched(7), mlock(2)).
#pragma once

#include <sched.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"

namespace viaduct::sys {

// Makes the calling thread run on this processor alone. Throws SystemError.
void BindToProcessor(int processor);

// Binds the calling thread and the processes that it starts to one processor until the lease ends:
// for processes that take turns and would otherwise pay for wake-ups across processors. No two
// leases in this network namespace are for the same processor, and a lease ends with its process.
// The thread that took a lease must end it.
class ProcessorLease {
 public:
  // Leases the processor that this thread is on, else any other that it may use; returns nothing if
  // all are leased. Throws SystemError.
  static std::optional<ProcessorLease> Take();
  ProcessorLease(ProcessorLease&& other) noexcept = default;
  ProcessorLease& operator=(ProcessorLease&& other) noexcept = default;
  // Restores the processors that the thread could use before.
  ~ProcessorLease();

  int processor() const { return processor_; }

 private:
  ProcessorLease(int processor, UniqueFd claim, const cpu_set_t& before);

  int processor_;
  UniqueFd claim_;
  cpu_set_t before_;
};

// Parses a list in the format of taskset(1), "0,2-3"; not empty. Throws UsageError.
cpu_set_t ParseProcessors(std::string_view text);

struct ThreadPolicy {
  std::string processors;    // for ParseProcessors(); empty: those that it may use now
  int fifo_priority = 0;     // 1 to 99: SCHED_FIFO; 0: unchanged
  bool lock_memory = false;  // memory of the whole process, present and future
};

// Gives the calling thread a policy while this object exists; threads that it starts inherit it.
// Memory stays locked only as long, too.
class ThreadPolicyScope {
 public:
  // Throws UsageError, and SystemError (naming the required permission) if the policy is not
  // permitted; nothing has changed then.
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

  std::optional<cpu_set_t> processors_;   // before
  std::optional<Scheduling> scheduling_;  // before
  bool locked_ = false;
};

}  // namespace viaduct::sys
