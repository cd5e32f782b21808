// The time before a deadline at which a loop stops sleeping and spins.
#pragma once

#include <algorithm>

#include "base/time.h"

namespace viaduct::engine {

// A sleep ends late: by some microseconds for the kernel's timer and wake-up, by up to milliseconds
// where an idle processor is given away (a hypervisor runs something else on it, a firmware lets it
// sleep deeply). The window is twice the maximum lateness of the sleeps of the last seconds,
// within bounds, so that next to no deadline falls into such a lateness.
class SpinWindow {
 public:
  // `least`, `most`: its bounds. Equal ones make it constant.
  constexpr SpinWindow(Duration least, Duration most) : least_(least), most_(most), now_(least) {}

  Duration length() const { return now_; }

  // A sleep that was to end at `until` ended at `woke`.
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
  // At the most, sleeps are late by 2 ms once in this time: 0.03%.
  static constexpr Duration kMemory = Duration::Seconds(6);

  Duration least_, most_, now_;
  Instant shrinks_ = Instant::Never();
};

}  // namespace viaduct::engine
