#include "base/result/exposition.h"

#include <gtest/gtest.h>

namespace viaduct::result {
namespace {

TEST(ExpositionTest, LabelsAreEscaped) {
  Exposition out;
  out.Family("a_total", "counter", "Help.");
  out.Sample({{"name", "x\"y\\z\nw"}}, 3);
  out.Sample({}, 4);
  EXPECT_EQ(out.text(),
            "# HELP a_total Help.\n# TYPE a_total counter\n"
            "a_total{name=\"x\\\"y\\\\z\\nw\"} 3\na_total 4\n");
}

TEST(ExpositionTest, AFamilyWithoutSamplesIsLeftOut) {
  Exposition out;
  out.Family("a", "gauge", "Help.");
  out.Family("b", "gauge", "Help.");
  out.Sample({}, 0.5);
  EXPECT_EQ(out.text(), "# HELP b Help.\n# TYPE b gauge\nb 0.5\n");
}

TEST(ExpositionTest, ASummaryOfSeconds) {
  Exposition out;
  Timing timing;
  out.Family("late_seconds", "summary", "Help.");
  out.Lateness({{"a", "b"}}, timing);  // a timing without events has no quantiles
  timing.events = 4;
  timing.p50_ns = timing.p99_ns = 1000;
  timing.max_ns = 2'000'000'000;
  timing.mean_ns = 500'000'000;
  out.Lateness({{"a", "c"}}, timing);
  EXPECT_EQ(out.text(),
            "# HELP late_seconds Help.\n# TYPE late_seconds summary\n"
            "late_seconds_count{a=\"b\"} 0\n"
            "late_seconds{a=\"c\",quantile=\"0.5\"} 1e-06\n"
            "late_seconds{a=\"c\",quantile=\"0.99\"} 1e-06\n"
            "late_seconds{a=\"c\",quantile=\"1\"} 2\n"
            "late_seconds_sum{a=\"c\"} 2\nlate_seconds_count{a=\"c\"} 4\n");
}

}  // namespace
}  // namespace viaduct::result
