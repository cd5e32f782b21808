// How a loop waits that must go on in time: the kernel's timer is late by some 50 us, so it sleeps
// until shortly before its deadline and spins on the clock from there on.
#pragma once

#include <sys/prctl.h>

#include <cstdint>

#include "base/fd.h"
#include "base/poller.h"
#include "base/time.h"

namespace viaduct::sys {

// The sleeping half: until an instant, until a descriptor is ready, or until another thread calls.
// How long before the deadline its owner stops sleeping is the owner's business. One thread's,
// except Wake().
class HybridWaiter {
 public:
  // In what Sleep() found: Wake() was called.
  static constexpr uint64_t kWoken = UINT64_MAX;

  HybridWaiter();  // throws SystemError
  // From now on a readable `fd` ends Sleep(), which then reports `tag`. A listened-to descriptor
  // costs whoever makes it readable a call back, so busy ones are not listened to. Throws
  // SystemError.
  void Listen(int fd, uint64_t tag) { poller_.Add(fd, tag); }
  void Ignore(int fd) { poller_.Remove(fd); }
  // Returns after `duration` at the latest (Duration::Max(): no limit) with what is ready; it is
  // empty also after a signal. Duration() only looks, which costs 0.3 us.
  Poller::Ready Sleep(Duration duration);
  // Any thread, and signal handlers: ends the Sleep() that is under way, or the next.
  void Wake() const;
  // Between two looks at the clock while spinning: leaves the core to its other thread.
  static void Relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }

 private:
  Poller poller_;
  UniqueFd wake_;
};

// While it lives, the calling thread's timer slack is 1 ns: the default of 50 us is added to every
// sleep.
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
