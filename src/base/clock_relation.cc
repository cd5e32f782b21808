#include "base/clock_relation.h"

#include <algorithm>

namespace viaduct {
namespace {

// No oscillator of a card is worse, nor corrected by more at a time (ptp4l's are within 100 ppm).
constexpr double kMostDrift = 500e-6;
// What the rate may change by from one reading to the next, when it is known: somebody steers it.
constexpr double kMostSteering = 50e-6;

Duration Share(Duration of, double share) {
  return Duration::Nanoseconds(static_cast<int64_t>(static_cast<double>(of.nanoseconds()) * share));
}

Duration Magnitude(Duration duration) { return std::max(duration, -duration); }

}  // namespace

Instant ClockRelation::ToOurs(Instant other) const {
  const Duration since = other - newest().other;
  return newest().ours + since + Share(since, drift_);
}

Duration ClockRelation::Tolerance(const Point& next) const {
  const Duration since = Magnitude(next.other - newest().other);
  const Duration readings = newest().half + next.half;
  if (count_ == 1) return readings + Share(since, kMostDrift);
  // The rate was read as badly as both ends of the time that it was read over.
  const auto over = static_cast<double>((newest().other - oldest().other).nanoseconds());
  const auto ends = static_cast<double>((newest().half + oldest().half).nanoseconds());
  return readings + Share(since, kMostSteering + ends / std::max(over, 1.0));
}

void ClockRelation::Add(const Point& point) {
  if (count_ == kPoints) {
    first_ = (first_ + 1) % kPoints;
    --count_;
  }
  points_[(first_ + count_++) % kPoints] = point;
  const Duration over = point.other - oldest().other;
  drift_ = 0;
  if (over == Duration()) return;
  const auto gained = static_cast<double>((point.ours - oldest().ours - over).nanoseconds());
  drift_ = std::clamp(gained / static_cast<double>(over.nanoseconds()), -kMostDrift, kMostDrift);
}

void ClockRelation::Learn(std::span<const Reading> readings) {
  if (readings.empty()) return;
  const Reading& best = *std::ranges::min_element(readings, {}, &Reading::length);
  const Point point{best.before + best.length() / 2, best.other, best.length() / 2};
  if (known()) {
    const Duration wrong = Magnitude(ToOurs(point.other) - point.ours);
    if (point.other <= newest().other || wrong > Tolerance(point)) {
      ++steps_;
      count_ = 0;
    } else {
      uncertainty_ = std::max(uncertainty_, std::max(wrong + point.half, newest().half));
    }
  } else {
    uncertainty_ = point.half;
  }
  Add(point);
}

}  // namespace viaduct
