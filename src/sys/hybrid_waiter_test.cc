#include "sys/hybrid_waiter.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <thread>

#include "base/clock.h"

namespace viaduct::sys {
namespace {

TEST(HybridWaiter, SleepsAtLeastAsLongAsTold) {
  HybridWaiter waiter;
  const Instant before = MonotonicClock::Now();
  EXPECT_TRUE(waiter.Sleep(Duration::Microseconds(200)).empty());
  EXPECT_GE(MonotonicClock::Now() - before, Duration::Microseconds(200));
}

TEST(HybridWaiter, ReportsReadyDescriptorsByTheirTags) {
  HybridWaiter waiter;
  const UniqueFd ready(eventfd(1, EFD_CLOEXEC)), silent(eventfd(0, EFD_CLOEXEC));
  waiter.Listen(ready.get(), 7);
  waiter.Listen(silent.get(), 8);
  const auto found = waiter.Sleep(Duration::Max());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.begin()->data.u64, 7U);
  waiter.Ignore(ready.get());
  EXPECT_TRUE(waiter.Sleep(Duration()).empty());
}

TEST(HybridWaiter, AWakeUpEndsOneSleepAlsoOneThatHasNotBegun) {
  HybridWaiter waiter;
  std::thread([&] { waiter.Wake(); }).join();
  waiter.Wake();
  const auto found = waiter.Sleep(Duration::Max());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.begin()->data.u64, HybridWaiter::kWoken);
  EXPECT_TRUE(waiter.Sleep(Duration()).empty());
}

TEST(TimerSlackScope, PutsTheSlackBack) {
  const int before = prctl(PR_GET_TIMERSLACK);
  {
    const TimerSlackScope scope;
    EXPECT_EQ(prctl(PR_GET_TIMERSLACK), 1);
  }
  EXPECT_EQ(prctl(PR_GET_TIMERSLACK), before);
}

}  // namespace
}  // namespace viaduct::sys
