#include "path/queue/rate_server.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "path/queue/test_queues.h"

namespace viaduct::path {
namespace {

using test::At;

TEST(ConstantRate, OnePacketTakesItsBits) {
  ConstantRate link(10000000);
  EXPECT_EQ(link.Send(At(1000), 1250), At(1000 + 1000000));  // 10,000 bits at 10 Mbit/s
}

TEST(ConstantRate, OverheadIsSentToo) {
  ConstantRate link(8000, FrameOverhead{24});
  EXPECT_EQ(link.Send(At(0), 76), At(100000000));
}

TEST(ConstantRate, CarriesTheRemainderWhileBusy) {
  ConstantRate link(3000000000);  // 8 bits take 2 2/3 ns
  Instant finish = link.Send(At(0), 1);
  EXPECT_EQ(finish, At(2));
  finish = link.Send(finish, 1);
  EXPECT_EQ(finish, At(5));
  finish = link.Send(finish, 1);
  EXPECT_EQ(finish, At(8));
}

TEST(ConstantRate, AnIdleLinkOwesNothing) {
  ConstantRate link(3000000000);
  link.Send(At(0), 1);
  EXPECT_EQ(link.Send(At(3), 1), At(5));
}

// The value rate_error_percent of the benchmarks, computed in the model, is zero.
TEST(ConstantRate, LongRunRateIsExactToTheNanosecond) {
  for (const int64_t rate :
       {1000000LL, 10000000LL, 100000000LL, 1000000000LL, 999999937LL, 10000000019LL}) {
    ConstantRate link(rate);
    RandomStream random(1, "sizes");
    Instant finish = At(0);
    unsigned __int128 bits = 0;
    for (int i = 0; i < 100000; ++i) {
      const auto bytes = static_cast<uint32_t>(60 + random.Below(1455));
      finish = link.Send(finish, bytes);
      bits += bytes * 8;
    }
    EXPECT_EQ(finish.nanoseconds(), static_cast<int64_t>(bits * 1000000000 / rate)) << rate;
  }
}

TEST(ConstantRate, SuperFramesDoNotOverflow) {
  ConstantRate link(1);
  EXPECT_EQ(link.Send(At(0), 262144), At(int64_t{262144} * 8 * 1000000000));
}

}  // namespace
}  // namespace viaduct::path
