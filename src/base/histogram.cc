#include "base/histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

namespace viaduct {

namespace {

// The position of a value's counter in the table: row 0 has the values below 1 << bits, each
// further row the values of one power of two. A part is the range of values that one counter
// counts.
struct Part {
  size_t row, index;
};

Part PartOf(uint64_t value, int bits) {
  const int width = std::bit_width(value);
  if (width <= bits) return {0, value};
  const int shift = width - 1 - bits;
  return {static_cast<size_t>(shift) + 1, (value >> shift) & ((uint64_t{1} << bits) - 1)};
}

// The first value of a counter's part, and the number of values in the part.
struct Range {
  uint64_t first, size;
};

Range RangeOf(const Part& part, int bits) {
  if (part.row == 0) return {part.index, 1};
  const size_t shift = part.row - 1;
  return {((uint64_t{1} << bits) + part.index) << shift, uint64_t{1} << shift};
}

// Returns the value of rank `place`, counted from 1, in a part, on the assumption that its `count`
// values are spread evenly.
int64_t Interpolated(const Range& range, uint64_t place, uint64_t count) {
  const double share = (static_cast<double>(place) - 0.5) / static_cast<double>(count);
  return static_cast<int64_t>(range.first) +
         static_cast<int64_t>(share * static_cast<double>(range.size - 1));
}

}  // namespace

void Histogram::CountOne(int64_t value) {
  const auto [row, index] = PartOf(static_cast<uint64_t>(value), kSubBits);
  if (rows_[row].empty()) rows_[row].resize(kParts);
  ++rows_[row][index];
}

void Histogram::CountKept() {
  for (const int64_t value : kept_) CountOne(value);
  kept_.clear();
}

void Histogram::Record(int64_t value) {
  value = std::max<int64_t>(value, 0);
  if (count_ == 0) kept_.reserve(kMaxKept);
  if (count_ == kMaxKept && IsKept()) CountKept();
  if (IsKept()) {
    kept_.push_back(value);
  } else {
    CountOne(value);
  }
  ++count_;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
  sum_ += static_cast<double>(value);
}

int64_t Histogram::Quantile(double quantile) const {
  const auto place = static_cast<uint64_t>(std::ceil(quantile * static_cast<double>(count_)));
  if (place <= 1) return Min();
  if (place >= count_) return max_;
  if (!IsKept()) return InterpolatedAt(place);
  std::vector<int64_t> values = kept_;
  const auto wanted = values.begin() + static_cast<std::ptrdiff_t>(place - 1);
  std::ranges::nth_element(values, wanted);
  return *wanted;
}

int64_t Histogram::InterpolatedAt(uint64_t place) const {
  uint64_t before = 0;
  for (size_t row = 0; row < rows_.size(); ++row) {
    for (size_t index = 0; index < rows_[row].size(); ++index) {
      const uint64_t here = rows_[row][index];
      if (before + here >= place) {
        const Range range = RangeOf({row, index}, kSubBits);
        return std::clamp(Interpolated(range, place - before, here), min_, max_);
      }
      before += here;
    }
  }
  return max_;
}

double Histogram::Mean() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

void Histogram::AddRowsOf(const Histogram& other) {
  for (size_t row = 0; row < rows_.size(); ++row) {
    if (other.rows_[row].empty()) continue;
    rows_[row].resize(kParts);
    std::ranges::transform(rows_[row], other.rows_[row], rows_[row].begin(), std::plus());
  }
}

void Histogram::Merge(const Histogram& other) {
  if (IsKept() && other.IsKept() && count_ + other.count_ <= kMaxKept) {
    kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
  } else {
    CountKept();
    for (const int64_t value : other.kept_) CountOne(value);
    AddRowsOf(other);
  }
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

}  // namespace viaduct
