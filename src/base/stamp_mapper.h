// The two clocks that a poll loop reads, and the conversion of the kernel's time stamps of received
// frames to the clock that programs run on.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace viaduct {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant Now() = 0;       // CLOCK_MONOTONIC, which the engine runs on
  virtual Instant Realtime() = 0;  // CLOCK_REALTIME, which the kernel stamps frames with
};

class SystemClock final : public Clock {
 public:
  Instant Now() override;
  Instant Realtime() override;
};

// Maps CLOCK_REALTIME stamps to the monotonic clock. The offset between the two changes only when a
// process sets the clock (slewing moves both), so it is measured once, then checked: a converted
// stamp is accepted only if it lies in the interval in which the frame must have arrived; a stamp
// from before a clock step does not.
class StampMapper {
 public:
  explicit StampMapper(Clock& clock);
  // Returns the monotonic instant of `stamp`, which is known to lie in [earliest, latest]; clamps a
  // stamp that is still outside after both clocks were read again to the nearer bound.
  Instant Map(Instant stamp, Instant earliest, Instant latest);
  // Returns the number of detected steps of the real-time clock.
  uint64_t Steps() const { return steps_; }

 private:
  void Check(Instant now);
  void Measure();

  Clock& clock_;
  Duration distance_;  // real time minus monotonic
  Duration before_;    // distance_ before the last step
  Instant checked_;
  uint64_t steps_ = 0;
};

}  // namespace viaduct
