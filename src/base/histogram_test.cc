#include "base/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace viaduct {
namespace {

TEST(HistogramTest, EmptyIsZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.Count(), 0u);
  EXPECT_EQ(histogram.Quantile(0.5), 0);
  EXPECT_EQ(histogram.Min(), 0);
  EXPECT_EQ(histogram.Max(), 0);
  EXPECT_EQ(histogram.Mean(), 0);
}

TEST(HistogramTest, SmallValuesAreExact) {
  Histogram histogram;
  for (int i = 1; i <= 100; ++i) histogram.Record(i);
  EXPECT_EQ(histogram.Quantile(0.5), 50);
  EXPECT_EQ(histogram.Quantile(0.01), 1);
  EXPECT_EQ(histogram.Quantile(0), 1);
  EXPECT_EQ(histogram.Quantile(1), 100);
  EXPECT_EQ(histogram.Mean(), 50.5);
  EXPECT_EQ(histogram.Min(), 1);
  EXPECT_EQ(histogram.Max(), 100);
}

TEST(HistogramTest, AQuantileIsAtMostOneSixtyFourthTooHighAndNeverTooLow) {
  RandomStream random(7, "histogram");
  for (int range_bits : {8, 16, 32, 62}) {
    Histogram histogram;
    std::vector<int64_t> values;
    for (int i = 0; i < 5000; ++i) {
      // Spread over all magnitudes up to the range.
      const auto value = static_cast<int64_t>(
          random.Next() >>
          (64 - range_bits + static_cast<int>(random.Below(static_cast<uint64_t>(range_bits)))));
      values.push_back(value);
      histogram.Record(value);
    }
    std::sort(values.begin(), values.end());
    for (double q : {0.001, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999}) {
      const int64_t exact =
          values[static_cast<size_t>(std::ceil(q * static_cast<double>(values.size()))) - 1];
      EXPECT_GE(histogram.Quantile(q), exact);
      EXPECT_LE(histogram.Quantile(q), exact + exact / 64) << "q " << q << " bits " << range_bits;
    }
    EXPECT_EQ(histogram.Quantile(1), values.back());
  }
}

TEST(HistogramTest, TakesTheWholeRange) {
  Histogram histogram;
  histogram.Record(std::numeric_limits<int64_t>::max());
  EXPECT_EQ(histogram.Quantile(0.5), std::numeric_limits<int64_t>::max());
  histogram.Record(-5);
  histogram.Record(0);
  EXPECT_EQ(histogram.Count(), 3u);
  EXPECT_EQ(histogram.Quantile(0.5), 0);
  EXPECT_EQ(histogram.Max(), std::numeric_limits<int64_t>::max());
}

TEST(HistogramTest, MergeIsAsIfRecordedTogether) {
  Histogram a, b, both;
  RandomStream random(8, "merge");
  for (int i = 0; i < 1000; ++i) {
    const auto value = static_cast<int64_t>(random.Below(1000000));
    (i % 3 == 0 ? a : b).Record(value);
    both.Record(value);
  }
  a.Merge(b);
  EXPECT_EQ(a.Count(), both.Count());
  EXPECT_EQ(a.Max(), both.Max());
  EXPECT_NEAR(a.Mean(), both.Mean(), 1e-6);
  for (double q : {0.1, 0.5, 0.99}) EXPECT_EQ(a.Quantile(q), both.Quantile(q));
  a.Reset();
  EXPECT_EQ(a.Count(), 0u);
  EXPECT_EQ(a.Quantile(0.99), 0);
}

}  // namespace
}  // namespace viaduct
