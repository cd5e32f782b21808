#include "path/model/timing_wheel.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "base/random.h"

namespace viaduct::path {
namespace {

Packet Due(int64_t at, uint32_t turn, uint32_t bytes = 1) {
  Packet packet;
  packet.ready = Instant::FromNanoseconds(at);
  packet.turn = turn;
  packet.bytes = bytes;
  return packet;
}

TEST(TimingWheelTest, IsEmptyAtFirstAndAgain) {
  TimingWheel wheel;
  EXPECT_EQ(wheel.Next(), Instant::Never());
  wheel.Insert(Due(10, 0, 7), Instant());
  EXPECT_EQ(wheel.Next(), Instant::FromNanoseconds(10));
  EXPECT_EQ(wheel.bytes(), 7U);
  EXPECT_EQ(wheel.PopFirst().turn, 0U);
  EXPECT_EQ(wheel.Next(), Instant::Never());
  EXPECT_EQ(wheel.packets(), 0U);
  EXPECT_EQ(wheel.bytes(), 0U);
}

TEST(TimingWheelTest, EqualsLeaveInTurnAlsoWhenTurnsWrap) {
  TimingWheel wheel;
  for (const uint32_t turn : {0xffffffffU, 1U, 0xfffffffeU, 0U}) {
    wheel.Insert(Due(1000000, turn), Instant());
  }
  EXPECT_EQ(wheel.NextTurn(), 0xfffffffeU);
  for (const uint32_t turn : {0xfffffffeU, 0xffffffffU, 0U, 1U}) {
    EXPECT_EQ(wheel.PopFirst().turn, turn);
  }
}

// Compares the wheel with an ordered set, for delays from zero to minutes: which packets leave,
// when, and in which order.
TEST(TimingWheelTest, OrdersAsASortedSetDoes) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    RandomStream random(seed, "wheel");
    TimingWheel wheel;
    std::set<std::tuple<int64_t, uint32_t>> reference;
    // Some clocks start at 0, others have large values.
    int64_t now = seed % 2 == 0 ? 0 : 1800000000000000000;
    uint32_t turn = 0;
    for (int step = 0; step < 5000; ++step) {
      for (uint64_t i = random.Below(4); i > 0; --i) {
        const int64_t longest = int64_t{1} << random.Below(38);  // up to 137 s
        const auto due = now + static_cast<int64_t>(random.Below(static_cast<uint64_t>(longest)));
        wheel.Insert(Due(due, turn), Instant::FromNanoseconds(now));
        reference.insert({due, turn});
        ++turn;
      }
      now += static_cast<int64_t>(random.Below(uint64_t{1} << random.Below(32)));
      while (!reference.empty() && std::get<0>(*reference.begin()) <= now) {
        ASSERT_EQ(wheel.Next().nanoseconds(), std::get<0>(*reference.begin())) << "seed " << seed;
        if (random.Chance(0.3)) {
          ASSERT_EQ(wheel.NextTurn(), std::get<1>(*reference.begin()));
        }
        ASSERT_EQ(wheel.PopFirst().turn, std::get<1>(*reference.begin())) << "seed " << seed;
        reference.erase(reference.begin());
      }
      ASSERT_EQ(wheel.packets(), reference.size());
      ASSERT_EQ(wheel.Next().nanoseconds(), reference.empty() ? Instant::Never().nanoseconds()
                                                              : std::get<0>(*reference.begin()));
    }
  }
}

}  // namespace
}  // namespace viaduct::path
