// The time before a deadline at which a loop stops sleeping and spins.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace viaduct::engine {

// A sleep ends late: by some microseconds because of the kernel's timer and wake-up, by up to
// milliseconds if the idle processor is not available immediately (a hypervisor runs something else
// on it, or the firmware has put it into a deep sleep). The window is twice the maximum lateness of
// the sleeps of the last seconds, within bounds, so that almost no deadline is missed because a
// sleep ends late.
class SpinWindow {
 public:
  // `least`, `most`: the bounds of the window. Equal bounds make the window constant.
  constexpr SpinWindow(Duration least, Duration most) : least_(least), most_(most), now_(least) {}

  Duration length() const { return now_; }

  // Widens the window if a sleep that should have ended at `until` ended at `woke`, too late for
  // the window.
  void Learn(Instant until, Instant woke) {
    const Duration late = woke - until;
    if (late * 2 <= now_) return;
    now_ = std::clamp(late * 2, now_, most_);
    shrinks_ = woke + kMemory;
  }
  // Halves the window after a period without a late sleep.
  void Forget(Instant now) {
    if (now < shrinks_) return;
    now_ = std::max(least_, now_ / 2);
    shrinks_ = now + kMemory;
  }

 private:
  // The period after which the window is halved. In each such period at most one sleep is late, by
  // at most 2 ms: 0.03% of the time.
  static constexpr Duration kMemory = Duration::Seconds(6);

  Duration least_, most_, now_;
  Instant shrinks_ = Instant::Never();
};

}  // namespace viaduct::engine
