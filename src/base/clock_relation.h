// The time of another clock, which has a rate of its own, on ours: that of a network card.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/time.h"

namespace viaduct {

// Knows as much as it is told by readings of both clocks. Of several that were taken in one go the
// shortest counts, and of that the middle: what the other clock showed may have been any instant
// within it, so the error is half of its length at most, however asymmetric the way is. Between
// and after readings the rate is that of the last few.
class ClockRelation {
 public:
  // Ours, the other clock's, ours again.
  struct Reading {
    Instant before, other, after;
    Duration length() const { return after - before; }
  };

  // `readings`: taken in one go, after those before; none: nothing is learned.
  void Learn(std::span<const Reading> readings);
  bool known() const { return count_ > 0; }
  // Known only. Best for instants near the last readings.
  Instant ToOurs(Instant other) const;

  // The most by which an instant may have been wrong that was converted before the last Learn():
  // half of the readings' length, and by how much that one contradicted what was known before it.
  Duration uncertainty() const { return uncertainty_; }
  // How often the other clock was set meanwhile: what it has contradicted by more than readings and
  // rates can. Instants of the time until that was noticed were wrong by as much.
  uint64_t steps() const { return steps_; }

 private:
  struct Point {
    Instant ours, other;
    Duration half;  // of the reading's length
  };
  static constexpr size_t kPoints = 8;

  const Point& newest() const { return points_[(first_ + count_ - 1) % kPoints]; }
  const Point& oldest() const { return points_[first_]; }
  // The most by which the next reading may contradict without a step.
  Duration Tolerance(const Point& next) const;
  void Add(const Point& point);

  std::array<Point, kPoints> points_;  // a ring
  size_t first_ = 0, count_ = 0;
  double drift_ = 0;  // ours runs so much faster, as a share
  Duration uncertainty_;
  uint64_t steps_ = 0;
};

}  // namespace viaduct
