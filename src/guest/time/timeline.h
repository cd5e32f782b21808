// The interface through which the calendar of real kernels uses a discrete-event simulator.
#pragma once

#include <functional>

#include "base/time.h"

namespace viaduct::guest {

// One clock and one event queue, sequential. Instants are the simulation's: 0 is its start; while
// guests boot they are negative.
class Timeline {
 public:
  virtual ~Timeline() = default;
  // Returns the present instant.
  virtual Instant Now() const = 0;
  // Returns the instant of the earliest event (Never(): there is none). An armed wake-up may or may
  // not be included.
  virtual Instant NextEvent() const = 0;
  // Runs `action` as an event at `at`, which is not before Now(). Events of one instant run in the
  // order in which they were scheduled.
  virtual void Schedule(Instant at, std::function<void()> action) = 0;
  // Arms the one wake-up, replacing an earlier one; Never() disarms it.
  virtual void WakeAt(Instant at) = 0;
  // Sets the function that a wake-up runs; call it once, before the first WakeAt().
  virtual void SetWake(std::function<void()> wake) = 0;
};

}  // namespace viaduct::guest
