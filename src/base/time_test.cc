#include "base/time.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace viaduct {
namespace {

TEST(DurationTest, ConvertsBetweenUnits) {
  EXPECT_EQ(Duration::Seconds(2), Duration::Milliseconds(2000));
  EXPECT_EQ(Duration::Milliseconds(3), Duration::Microseconds(3000));
  EXPECT_EQ(Duration::Microseconds(4), Duration::Nanoseconds(4000));
  EXPECT_EQ(Duration::Nanoseconds(1500000000).ToSeconds(), 1.5);
  EXPECT_EQ(Duration().nanoseconds(), 0);
}

TEST(DurationTest, Arithmetic) {
  Duration d = Duration::Nanoseconds(7);
  EXPECT_EQ(d + d, Duration::Nanoseconds(14));
  EXPECT_EQ(d - d * 2, -d);
  EXPECT_EQ(d / 2, Duration::Nanoseconds(3));
  EXPECT_EQ(Duration::Seconds(1) / Duration::Milliseconds(300), 3);
  d += Duration::Nanoseconds(3);
  d -= Duration::Nanoseconds(1);
  EXPECT_EQ(d, Duration::Nanoseconds(9));
  EXPECT_LT(-d, Duration());
  EXPECT_LT(d, Duration::Max());
}

TEST(InstantTest, DiffersAndMovesByDurations) {
  const Instant start = Instant::FromNanoseconds(100);
  Instant later = start + Duration::Nanoseconds(50);
  EXPECT_EQ(later - start, Duration::Nanoseconds(50));
  EXPECT_EQ(later - Duration::Nanoseconds(50), start);
  EXPECT_LT(start, later);
  later += Duration::Seconds(1000000000);
  EXPECT_LT(later, Instant::Never());
}

TEST(InstantTest, KeepsNanosecondsFarFromItsEpoch) {
  // A time in 2027, in nanoseconds since 1970: a double could not distinguish it from the next
  // nanosecond.
  const Instant t = Instant::FromNanoseconds(1800000000000000000);
  EXPECT_NE(t, t + Duration::Nanoseconds(1));
  EXPECT_EQ((t + Duration::Nanoseconds(1)) - t, Duration::Nanoseconds(1));
}

TEST(ClockTest, AManualClockMovesByHandOnly) {
  ManualClock clock;
  EXPECT_EQ(clock.Now(), Instant());
  clock.Advance(Duration::Seconds(2));
  EXPECT_EQ(clock.Now(), clock.Now());
  EXPECT_EQ(clock.Now(), Instant::FromNanoseconds(2000000000));
  clock.Set(Instant::FromNanoseconds(5));
  EXPECT_EQ(clock.Now().nanoseconds(), 5);
}

TEST(ClockTest, TheMonotonicClockNeverGoesBack) {
  Instant last = MonotonicClock::Now();
  EXPECT_GT(last, Instant());
  for (int i = 0; i < 10000; ++i) {
    const Instant now = MonotonicClock::Now();
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace viaduct
