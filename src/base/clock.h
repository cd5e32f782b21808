// Clocks. Model code (path/, wire/) never uses these: time is passed in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <limits>

#include "base/time.h"

namespace viaduct {

// Reads CLOCK_MONOTONIC (about 25 ns through the vDSO). Never goes backwards.
struct MonotonicClock {
  static Instant Now() {
    timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return Instant::FromNanoseconds(ts.tv_sec * 1000000000LL + ts.tv_nsec);
  }
};

// Returns the milliseconds that poll(2) and epoll_wait(2) must wait until the deadline; -1: without
// limit.
inline int PollTimeout(Instant deadline) {
  if (deadline == Instant::Never()) return -1;
  const Duration left = std::max(deadline - MonotonicClock::Now(), Duration());
  const int64_t milliseconds = (left.nanoseconds() + 999'999) / 1'000'000;
  return static_cast<int>(std::min<int64_t>(milliseconds, std::numeric_limits<int>::max()));
}

// A clock that a test moves by hand.
class ManualClock {
 public:
  Instant Now() const { return now_; }
  void Advance(Duration d) { now_ += d; }
  void Set(Instant t) { now_ = t; }

 private:
  Instant now_;
};

}  // namespace viaduct
