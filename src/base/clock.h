// Clocks. Model code (path/, wire/) never reads a clock: its caller passes the time to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <limits>

#include "base/time.h"

namespace viaduct {

// The clock CLOCK_MONOTONIC, which never goes backwards. Reading it takes about 25 ns (vDSO).
struct MonotonicClock {
  static Instant Now() {
    timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return Instant::FromNanoseconds(ts.tv_sec * 1000000000LL + ts.tv_nsec);
  }
};

// Returns the timeout, in milliseconds, with which poll(2) and epoll_wait(2) wait until the
// deadline; -1, no timeout, for the deadline Instant::Never().
inline int PollTimeout(Instant deadline) {
  if (deadline == Instant::Never()) return -1;
  const Duration left = std::max(deadline - MonotonicClock::Now(), Duration());
  const int64_t milliseconds = (left.nanoseconds() + 999'999) / 1'000'000;
  return static_cast<int>(std::min<int64_t>(milliseconds, std::numeric_limits<int>::max()));
}

// A clock whose time a test sets.
class ManualClock {
 public:
  Instant Now() const { return now_; }
  void Advance(Duration d) { now_ += d; }
  void Set(Instant t) { now_ = t; }

 private:
  Instant now_;
};

}  // namespace viaduct
