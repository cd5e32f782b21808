#include "io/card_clock.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace viaduct::io {
namespace {

constexpr ptp_clock_time At(int64_t sec, uint32_t nsec) { return {sec, nsec, 0}; }

TEST(CardClockTest, ReadingsOfEachWay) {
  ptp_sys_offset_precise precise{};
  precise.device = At(37, 5);
  precise.sys_realtime = At(1, 2);
  precise.sys_monoraw = At(9, 9);
  const auto exact = ReadingsOf(precise);
  ASSERT_EQ(exact.size(), 1u);
  EXPECT_EQ(exact[0].length(), Duration());
  EXPECT_EQ(exact[0].before, Instant::FromNanoseconds(1000000002));
  EXPECT_EQ(exact[0].other, Instant::FromNanoseconds(37000000005));

  ptp_sys_offset_extended extended{};
  extended.n_samples = 2;
  extended.ts[0][0] = At(1, 0), extended.ts[0][1] = At(50, 7), extended.ts[0][2] = At(1, 900);
  extended.ts[1][0] = At(2, 0), extended.ts[1][1] = At(51, 7), extended.ts[1][2] = At(2, 100);
  const auto both = ReadingsOf(extended);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1].before, Instant::FromNanoseconds(2000000000));
  EXPECT_EQ(both[1].other, Instant::FromNanoseconds(51000000007));
  EXPECT_EQ(both[1].length(), Duration::Nanoseconds(100));

  // The system's time after one sample is that before the next.
  ptp_sys_offset plain{};
  plain.n_samples = 2;
  plain.ts[0] = At(1, 0), plain.ts[1] = At(50, 0), plain.ts[2] = At(1, 300);
  plain.ts[3] = At(50, 400), plain.ts[4] = At(1, 900);
  const auto shared = ReadingsOf(plain);
  ASSERT_EQ(shared.size(), 2u);
  EXPECT_EQ(shared[0].length(), Duration::Nanoseconds(300));
  EXPECT_EQ(shared[1].before, shared[0].after);
  EXPECT_EQ(shared[1].other, Instant::FromNanoseconds(50000000400));
  EXPECT_EQ(shared[1].length(), Duration::Nanoseconds(600));
}

TEST(CardClockTest, WhatIsNoClockIsRefused) {
  const auto null =
      std::make_shared<UniqueFd>(SystemCall("open", open("/dev/null", O_RDONLY | O_CLOEXEC)));
  EXPECT_THROW(CardClock{null}, EnvironmentError);
}

}  // namespace
}  // namespace viaduct::io
