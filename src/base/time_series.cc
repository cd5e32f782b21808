#include "base/time_series.h"

#include <algorithm>

namespace viaduct {

void TimeSeries::Add(Duration since, uint64_t count) {
  since = std::max(since, Duration());
  while (since / interval_ >= static_cast<int64_t>(kMaxIntervals)) Coarsen();
  const auto index = static_cast<size_t>(since / interval_);
  if (index >= counts_.size()) counts_.resize(index + 1);
  counts_[index] += count;
}

void TimeSeries::Coarsen() {
  interval_ = interval_ * 2;
  const size_t half = (counts_.size() + 1) / 2;
  for (size_t i = 0; i < half; ++i) {
    counts_[i] = counts_[2 * i] + (2 * i + 1 < counts_.size() ? counts_[2 * i + 1] : 0);
  }
  counts_.resize(half);
}

}  // namespace viaduct
