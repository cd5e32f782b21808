// The discrete-event simulator that the calendar of real kernels lives in, as the calendar sees it.
#pragma once

#include <functional>

#include "base/time.h"

namespace viaduct::guest {

// One clock and one event queue, sequential. Instants are the simulation's: 0 is its start; while
// guests boot they are negative.
class Timeline {
 public:
  virtual ~Timeline() = default;
  // The present instant.
  virtual Instant Now() const = 0;
  // When the earliest event is due (Never(): there is none). An armed wake-up may be counted or
  // not.
  virtual Instant NextEvent() const = 0;
  // Runs `action` as an event at `at`, which is not before Now(). Events of one instant run in the
  // order in which they were scheduled.
  virtual void Schedule(Instant at, std::function<void()> action) = 0;
  // Arms the one wake-up, replacing an earlier one; Never() disarms it.
  virtual void WakeAt(Instant at) = 0;
  // What a wake-up runs; set once, before the first WakeAt().
  virtual void SetWake(std::function<void()> wake) = 0;
};

}  // namespace viaduct::guest
