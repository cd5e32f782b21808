// A histogram of non-negative 64-bit values with bounded memory and relative error.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace viaduct {

// Keeps up to 1024 values exactly. With more values, the range of each power of two is divided into
// 1024 equal parts (HDR-style, Tene), and a value is known within 0.1%. Record() costs a few
// instructions, plus an allocation of 8 KiB for the first value and for the first value of each
// power of two. One thread writes; readers on other threads need their own synchronisation.
// Negative values count as 0.
class Histogram {
 public:
  void Record(int64_t value);
  // Returns the value of rank ceil(quantile * count), counted from 1, of all values in ascending
  // order. The value is exact for at most 1024 values and for the minimum and the maximum;
  // otherwise its error is at most 1/1024 of the value. 0 for an empty histogram.
  int64_t Quantile(double quantile) const;
  int64_t Min() const { return count_ == 0 ? 0 : min_; }
  int64_t Max() const { return max_; }
  uint64_t Count() const { return count_; }
  double Mean() const;
  void Merge(const Histogram& other);
  void Reset() { *this = Histogram(); }

 private:
  static constexpr int kSubBits = 10;
  static constexpr size_t kParts = size_t{1} << kSubBits;
  static constexpr size_t kMaxKept = 1024;

  bool IsKept() const { return kept_.size() == count_; }
  void CountKept();  // moves the kept values to the rows
  void CountOne(int64_t value);
  void AddRowsOf(const Histogram& other);
  int64_t InterpolatedAt(uint64_t place) const;

  std::vector<int64_t> kept_;
  // The counters: row 0 counts the values below kParts, each further row the values of one power of
  // two. A row is empty until its first value.
  std::array<std::vector<uint64_t>, 64 - kSubBits> rows_;
  uint64_t count_ = 0;
  int64_t min_ = std::numeric_limits<int64_t>::max(), max_ = 0;
  double sum_ = 0;
};

}  // namespace viaduct
