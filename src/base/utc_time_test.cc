#include "base/utc_time.h"

#include <gtest/gtest.h>

namespace viaduct {
namespace {

TEST(UtcTimeTest, IsIso8601WhateverTheTimeZone) {
  setenv("TZ", "Asia/Tokyo", 1);
  tzset();
  EXPECT_EQ(FormatUtc(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatUtc(1769903999), "2026-01-31T23:59:59Z");
  unsetenv("TZ");
  tzset();
}

TEST(UtcTimeTest, NowIsNow) {
  const std::string before = FormatUtc(std::time(nullptr));
  const std::string now = UtcNow();
  EXPECT_LE(before, now);
  EXPECT_LE(now, FormatUtc(std::time(nullptr)));
}

}  // namespace
}  // namespace viaduct
