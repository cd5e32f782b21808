// Counts over time in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace viaduct {

// Counts packets, or bytes, in each interval of time, in fixed memory: if there would be more than
// kMaxIntervals intervals, every two neighbouring intervals become one of twice the length.
class TimeSeries {
 public:
  static constexpr Duration kInterval = Duration::Milliseconds(100);
  static constexpr size_t kMaxIntervals = 36000;  // one hour of intervals of kInterval

  // Starts an empty series. `interval`: the duration of an interval until intervals are merged.
  explicit TimeSeries(Duration interval = kInterval) : interval_(interval) {}
  // Adds `count` to the interval at the time `since` the beginning of the series; a negative time
  // counts as 0.
  void Add(Duration since, uint64_t count);
  const std::vector<uint64_t>& counts() const { return counts_; }
  Duration interval() const { return interval_; }

 private:
  void Coarsen();

  Duration interval_;
  std::vector<uint64_t> counts_;
};

}  // namespace viaduct
