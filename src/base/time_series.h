// Counts over time in bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace viaduct {

// The packets, or bytes, in each interval of time, in fixed memory: where there would be more than
// kMaxIntervals of them, each two become one of twice the length.
class TimeSeries {
 public:
  static constexpr Duration kInterval = Duration::Milliseconds(100);
  static constexpr size_t kMaxIntervals = 36000;  // an hour of these

  // `interval`: how long they are at first.
  explicit TimeSeries(Duration interval = kInterval) : interval_(interval) {}
  // `since`: the beginning of the series; before it counts as at it.
  void Add(Duration since, uint64_t count);
  const std::vector<uint64_t>& counts() const { return counts_; }
  Duration interval() const { return interval_; }

 private:
  void Coarsen();

  Duration interval_;
  std::vector<uint64_t> counts_;
};

}  // namespace viaduct
