// Clocks. Model code (path/, wire/) never uses these: time is passed in.
#pragma once

#include <ctime>

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
