// Binding threads to processors.
#pragma once

#include <sched.h>

#include <optional>

#include "base/fd.h"

namespace viaduct::sys {

// From now on the calling thread runs on this processor alone. Throws SystemError.
void BindToProcessor(int processor);

// Binds the calling thread and what it starts to one processor until the lease ends: for processes
// that take turns and would otherwise pay for wake-ups across processors. No two leases within this
// network namespace are for the same processor, and a lease ends with its process. The thread that
// took a lease must end it.
class ProcessorLease {
 public:
  // Leases the processor this thread is on, else any other it may use; nothing when all are leased.
  // Throws SystemError.
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

}  // namespace viaduct::sys
