// Which processor a thread runs on.
#pragma once

#include <sched.h>

#include <optional>

#include "base/fd.h"

namespace viaduct::sys {

// From now on the calling thread runs on this processor alone. Throws SystemError.
void BindToProcessor(int processor);

// One processor of this machine for the calling thread and what it starts, until the lease ends:
// for processes that take turns, which wait for each other's wake-up across processors otherwise.
// Of the leases of all processes of this network namespace no two are of one processor, and a lease
// goes with its process. The lease ends in the thread that took it.
class ProcessorLease {
 public:
  // The processor this thread is on, else any other it may use; nothing when all are leased.
  // Throws SystemError.
  static std::optional<ProcessorLease> Take();
  ProcessorLease(ProcessorLease&& other) noexcept = default;
  ProcessorLease& operator=(ProcessorLease&& other) noexcept = default;
  // The thread may use all again that it could before.
  ~ProcessorLease();

  int processor() const { return processor_; }

 private:
  ProcessorLease(int processor, UniqueFd claim, const cpu_set_t& before);

  int processor_;
  UniqueFd claim_;
  cpu_set_t before_;
};

}  // namespace viaduct::sys
