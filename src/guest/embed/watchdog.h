// A watchdog that makes a guest leave the processor if the guest neither returns nor advances its
// time.
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "base/time.h"
#include "guest/embed/context.h"

namespace viaduct::embed {

// A thread that checks a guest periodically. The guest's thread and the context must outlive the
// watchdog.
class Watchdog {
 public:
  // Starts the thread. `clock` is the guest's time, or another value that changes whenever the
  // guest's time advances.
  Watchdog(Context& context, const volatile uint64_t& clock);
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;
  ~Watchdog();

  // Sets the maximum wall time that the guest may run in one LetRun() without advancing its time;
  // until the first call there is no limit.
  void SetTimeout(Duration timeout) { timeout_ = timeout.nanoseconds(); }

 private:
  void Watch();

  Context& context_;
  const volatile uint64_t& clock_;
  pid_t watched_;
  std::atomic<int64_t> timeout_{0};
  std::mutex mutex_;
  std::condition_variable end_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace viaduct::embed
