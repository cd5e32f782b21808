#include "base/stamp_mapper.h"

#include <algorithm>

#include "base/clock.h"
#include "base/timespec.h"

namespace viaduct {
namespace {

// The interval between checks of the clocks. This is the maximum delay until the mapper detects a
// clock step that is smaller than the time between two polls of a port.
constexpr Duration kCheckInterval = Duration::Milliseconds(1);
// The maximum rounding error of the kernel's conversions to the times of the two clocks.
constexpr Duration kRounding = Duration::Nanoseconds(5);
constexpr int kReadings = 8;

}  // namespace

Instant SystemClock::Now() { return MonotonicClock::Now(); }

Instant SystemClock::Realtime() {
  timespec ts;
  clock_gettime(CLOCK_REALTIME, &ts);
  return Instant() + FromTimespec(ts);
}

StampMapper::StampMapper(Clock& clock) : clock_(clock) {
  Measure();
  before_ = distance_;
}

// Measures the distance of the clocks. Uses the fastest of several measurements, because this
// thread may be interrupted between two readings of the clocks.
void StampMapper::Measure() {
  Duration width = Duration::Max();
  for (int i = 0; i < kReadings; ++i) {
    const Instant before = clock_.Now();
    const Instant real = clock_.Realtime();
    const Instant after = clock_.Now();
    if (after - before >= width) continue;
    width = after - before;
    distance_ = (real - before) - width / 2;
    checked_ = after;
  }
}

void StampMapper::Check(Instant now) {
  const Instant before = clock_.Now();
  const Instant real = clock_.Realtime();
  const Instant after = clock_.Now();
  checked_ = now;
  if (distance_ + kRounding >= real - after && distance_ - kRounding <= real - before) return;
  before_ = distance_;
  Measure();
  ++steps_;
}

Instant StampMapper::Map(Instant stamp, Instant earliest, Instant latest) {
  if (latest - checked_ >= kCheckInterval) Check(latest);
  Instant mapped = stamp - distance_;
  if (mapped >= earliest && mapped <= latest) return mapped;
  Check(latest);
  mapped = stamp - distance_;
  if (mapped >= earliest && mapped <= latest) return mapped;
  const Instant old = stamp - before_;
  if (old >= earliest && old <= latest) return old;
  return std::clamp(mapped, earliest, latest);
}

}  // namespace viaduct
