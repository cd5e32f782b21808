#include "path/engine/spin_window.h"

#include <gtest/gtest.h>

namespace viaduct::engine {
namespace {

constexpr Duration kLeast = Duration::Microseconds(50);
constexpr Duration kMost = Duration::Milliseconds(2);
constexpr Instant kAsked = Instant::FromNanoseconds(1'000'000'000);

SpinWindow LateBy(Duration late, Duration most = kMost) {
  SpinWindow window(kLeast, most);
  window.Learn(kAsked, kAsked + late);
  return window;
}

TEST(SpinWindowTest, PunctualSleepsLeaveItAtItsLeast) {
  EXPECT_EQ(LateBy(Duration::Microseconds(5)).length(), kLeast);
  // A sleep that ends before its deadline leaves the window at its minimum.
  EXPECT_EQ(LateBy(Duration::Microseconds(-300)).length(), kLeast);
}

TEST(SpinWindowTest, ALateSleepMakesItTwiceAsLongAsThatWasLate) {
  EXPECT_EQ(LateBy(Duration::Microseconds(300)).length(), Duration::Microseconds(600));
}

TEST(SpinWindowTest, NoSleepMakesItLongerThanTheMost) {
  EXPECT_EQ(LateBy(Duration::Milliseconds(60)).length(), kMost);
  EXPECT_EQ(LateBy(Duration::Milliseconds(60), kLeast).length(), kLeast);
}

TEST(SpinWindowTest, AShorterLatenessDoesNotShortenIt) {
  SpinWindow window = LateBy(Duration::Microseconds(300));
  window.Learn(kAsked, kAsked + Duration::Microseconds(60));
  EXPECT_EQ(window.length(), Duration::Microseconds(600));
}

TEST(SpinWindowTest, ItForgetsByHalvesDownToItsLeast) {
  SpinWindow window = LateBy(kMost);
  Instant now = kAsked + kMost;
  window.Forget(now + Duration::Seconds(1));
  EXPECT_EQ(window.length(), kMost);
  for (Duration expected = kMost / 2; expected > kLeast; expected = expected / 2) {
    now = now + Duration::Seconds(6);
    window.Forget(now);
    EXPECT_EQ(window.length(), expected);
  }
  for (int i = 0; i < 3; ++i) {
    now = now + Duration::Seconds(6);
    window.Forget(now);
    EXPECT_EQ(window.length(), kLeast);
  }
}

}  // namespace
}  // namespace viaduct::engine
