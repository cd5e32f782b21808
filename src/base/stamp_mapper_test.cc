#include "base/stamp_mapper.h"

#include <gtest/gtest.h>

#include "base/test_clock.h"

namespace viaduct {
namespace {

constexpr Duration kStep = Duration::Milliseconds(1);

TEST(StampMapperTest, AStampIsTheMonotonicInstantOfItsMoment) {
  TestClock clock;
  StampMapper mapper(clock);
  const Instant start = clock.Now();
  const Instant stamp = clock.Realtime();
  clock.Advance(kStep * 30);
  EXPECT_EQ(mapper.Map(stamp, start, clock.Now()), start);
  EXPECT_EQ(mapper.Steps(), 0u);
}

TEST(StampMapperTest, AStepOfTheClockMovesNoFrame) {
  for (const Duration step : {Duration::Seconds(3600), -Duration::Seconds(1), kStep * 5}) {
    TestClock clock;
    StampMapper mapper(clock);
    const Instant start = clock.Now();
    clock.Advance(kStep);
    const Instant before = clock.Realtime();  // stamp at start + 1 ms, before the clock step
    clock.Advance(kStep);
    clock.Step(step);
    const Instant after = clock.Realtime();  // stamp at start + 2 ms, after the clock step
    clock.Advance(kStep);
    EXPECT_EQ(mapper.Map(before, start, clock.Now()), start + kStep);
    EXPECT_EQ(mapper.Map(after, start, clock.Now()), start + kStep * 2);
    EXPECT_EQ(mapper.Steps(), 1u);
  }
}

TEST(StampMapperTest, AStepTooSmallToContradictIsFoundWithinAMillisecond) {
  TestClock clock;
  StampMapper mapper(clock);
  const Instant start = clock.Now();
  clock.Step(Duration::Microseconds(3));
  clock.Advance(kStep * 2);
  const Instant stamp = clock.Realtime();
  const Instant at = clock.Now();
  clock.Advance(kStep);
  EXPECT_EQ(mapper.Map(stamp, start, clock.Now()), at);
  EXPECT_EQ(mapper.Steps(), 1u);
}

TEST(StampMapperTest, AnImpossibleStampCountsAsTheNearerBound) {
  TestClock clock;
  StampMapper mapper(clock);
  const Instant early = clock.Now(), late = early + kStep;
  clock.Set(late);
  EXPECT_EQ(mapper.Map(Instant::FromNanoseconds(5), early, late), early);
  EXPECT_EQ(mapper.Map(clock.Realtime() + Duration::Seconds(9), early, late), late);
}

TEST(SystemClockTest, IsTheMonotonicClockAndTheRealOne) {
  SystemClock clock;
  const Instant now = clock.Now();
  EXPECT_LE(now, clock.Now());
  EXPECT_GT(clock.Realtime(), now) << "this machine has run since before 1970";
}

}  // namespace
}  // namespace viaduct
