// The interface through which the calendar of real kernels uses a discrete-event simulator.
#pragma once

#include <functional>

#include "base/time.h"

namespace viaduct::guest {

// One clock and one sequential event queue. Instants are relative to the start of the simulation;
// they are negative while guests boot.
class Timeline {
 public:
  virtual ~Timeline() = default;
  // Returns the present instant.
  virtual Instant Now() const = 0;
  // Returns the instant of the earliest event (Never() if there is no event). An implementation may
  // or may not include an armed wake-up.
  virtual Instant NextEvent() const = 0;
  // Runs `action` as an event at `at`, which must not be before Now(). Events of one instant run in
  // the order in which they were scheduled.
  virtual void Schedule(Instant at, std::function<void()> action) = 0;
  // Arms the only wake-up at `at`, replacing a wake-up that is already armed; Never() disarms it.
  virtual void WakeAt(Instant at) = 0;
  // Sets the function that the wake-up calls; must be called once, before the first WakeAt().
  virtual void SetWake(std::function<void()> wake) = 0;
};

}  // namespace viaduct::guest
