#include "base/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace viaduct {

int Histogram::IndexOf(uint64_t value) {
  if (value < (1u << kSubBits)) return static_cast<int>(value);
  const int exponent = std::bit_width(value) - 1 - kSubBits;
  const int sub = static_cast<int>((value >> exponent) & ((1u << kSubBits) - 1));
  return ((exponent + 1) << kSubBits) + sub;
}

int64_t Histogram::UpperBoundOf(int index) {
  if (index < (1 << kSubBits)) return index;
  const int exponent = (index >> kSubBits) - 1;
  const uint64_t sub = (index & ((1u << kSubBits) - 1)) | (1u << kSubBits);
  return static_cast<int64_t>(((sub + 1) << exponent) - 1);
}

void Histogram::Record(int64_t value) {
  value = std::max<int64_t>(value, 0);
  ++counts_[IndexOf(static_cast<uint64_t>(value))];
  ++count_;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value);
}

int64_t Histogram::Quantile(double quantile) const {
  if (count_ == 0) return 0;
  const auto wanted = std::max<uint64_t>(
      1, static_cast<uint64_t>(std::ceil(quantile * static_cast<double>(count_))));
  uint64_t seen = 0;
  for (int i = 0; i < kBuckets; ++i) {
    seen += counts_[i];
    if (seen >= wanted) return std::min(UpperBoundOf(i), max_);
  }
  return max_;
}

double Histogram::Mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

void Histogram::Merge(const Histogram& other) {
  for (int i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

}  // namespace viaduct
