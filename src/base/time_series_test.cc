#include "base/time_series.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace viaduct {
namespace {

TEST(TimeSeriesTest, FillsIntervals) {
  TimeSeries series;
  series.Add(Duration(), 1);
  series.Add(Duration::Milliseconds(99), 2);
  series.Add(Duration::Milliseconds(300), 4);
  EXPECT_THAT(series.counts(), testing::ElementsAre(3, 0, 0, 4));
}

TEST(TimeSeriesTest, ADayHasLongerIntervals) {
  TimeSeries series;
  for (int second = 0; second < 86400; ++second) series.Add(Duration::Seconds(second), 3);
  EXPECT_EQ(series.interval(), TimeSeries::kInterval * 32);
  ASSERT_EQ(series.counts().size(), 27000u);
  EXPECT_EQ(std::accumulate(series.counts().begin(), series.counts().end(), uint64_t{0}),
            uint64_t{3} * 86400);
  EXPECT_EQ(series.counts()[5], 12u);  // the count of the seconds 16 to 19
}

}  // namespace
}  // namespace viaduct
