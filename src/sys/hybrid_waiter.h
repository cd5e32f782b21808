// Waits precisely for a deadline: the kernel's timers fire some 50 us late, so a loop sleeps until
// shortly before its deadline and then reads the clock again and again.
#pragma once

#include <sys/prctl.h>

#include <cstdint>

#include "base/fd.h"
#include "base/poller.h"
#include "base/time.h"

namespace viaduct::sys {

// Performs the first part of the wait, in which the thread sleeps: for a duration, until a
// descriptor is ready, or until another thread calls Wake(). The owner decides how long before the
// deadline the sleep ends. Only one thread may use an object, except for Wake().
class HybridWaiter {
 public:
  // The tag that Sleep() reports if Wake() was called.
  static constexpr uint64_t kWoken = UINT64_MAX;

  HybridWaiter();  // throws SystemError
  // Watches `fd`: Sleep() ends when `fd` is readable, or ready for other `events` of epoll(7), and
  // then reports `tag`. Each write to a watched descriptor costs the writer the epoll callback, so
  // busy descriptors should not be watched. Throws SystemError.
  void Listen(int fd, uint64_t tag, uint32_t events = EPOLLIN) { poller_.Add(fd, tag, events); }
  void Ignore(int fd) { poller_.Remove(fd); }
  // Returns the ready descriptors, at the latest after `duration` (Duration::Max(): no limit).
  // After a signal the function may return earlier, without descriptors. If `duration` is
  // Duration(), only polls, which costs 0.3 us.
  Poller::Ready Sleep(Duration duration);
  // Ends the current Sleep(), or the next one. May be called by any thread and in signal handlers.
  void Wake() const;
  // Pauses between two reads of the clock while spinning: yields the core to its other hardware
  // thread.
  static void Relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }

 private:
  Poller poller_;
  UniqueFd wake_;
};

// Sets the calling thread's timer slack to 1 ns while this object exists: the default slack of 50
// us would be added to every sleep.
class TimerSlackScope {
 public:
  TimerSlackScope() : saved_(prctl(PR_GET_TIMERSLACK)) { prctl(PR_SET_TIMERSLACK, 1UL); }
  TimerSlackScope(const TimerSlackScope&) = delete;
  TimerSlackScope& operator=(const TimerSlackScope&) = delete;
  ~TimerSlackScope() { prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(saved_)); }

 private:
  int saved_;
};

}  // namespace viaduct::sys
