// The two clocks that a poll loop reads, and the conversion of the kernel's time stamps of received
// frames to the clock that programs run on.
#pragma once

#include <cstdint>

#include "base/time.h"

namespace viaduct {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Instant Now() = 0;       // CLOCK_MONOTONIC, by which the engine runs
  virtual Instant Realtime() = 0;  // CLOCK_REALTIME, with which the kernel stamps frames
};

class SystemClock final : public Clock {
 public:
  Instant Now() override;
  Instant Realtime() override;
};

// Maps CLOCK_REALTIME stamps to the monotonic clock. The offset between the two clocks changes only
// when a process sets the real-time clock (slewing changes both clocks), so the mapper measures the
// offset once and then checks each result. A converted stamp is accepted only if it lies in the
// interval in which the frame must have arrived; a stamp from before a clock step lies outside this
// interval.
class StampMapper {
 public:
  explicit StampMapper(Clock& clock);
  // Returns the monotonic instant of `stamp`, which must lie in [earliest, latest]. If the instant
  // is outside of this interval even after both clocks were read again, returns the nearer bound.
  Instant Map(Instant stamp, Instant earliest, Instant latest);
  // Returns the number of detected steps of the real-time clock.
  uint64_t Steps() const { return steps_; }

 private:
  void Check(Instant now);
  void Measure();

  Clock& clock_;
  Duration distance_;  // CLOCK_REALTIME minus CLOCK_MONOTONIC
  Duration before_;    // the value of distance_ before the last clock step
  Instant checked_;
  uint64_t steps_ = 0;
};

}  // namespace viaduct
