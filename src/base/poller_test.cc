#include "base/poller.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/error.h"

namespace viaduct {
namespace {

UniqueFd Event(unsigned value = 0) { return UniqueFd(eventfd(value, EFD_NONBLOCK)); }

TEST(PollerTest, TellsWhoIsReadyByItsTag) {
  const UniqueFd quiet = Event(), ready = Event(1);
  Poller poller;
  poller.Add(quiet.get(), 1);
  poller.Add(ready.get(), uint64_t{7} << 40);
  const Poller::Ready found = poller.Wait();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.begin()->data.u64, uint64_t{7} << 40);
  EXPECT_EQ(found.begin()->events, uint32_t{EPOLLIN});
}

TEST(PollerTest, IsLevelTriggeredUntilTheDescriptorIsRemoved) {
  const UniqueFd fd = Event(1);
  Poller poller;
  poller.Add(fd.get(), 0);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(poller.Wait(Duration()).size(), 1U);
  poller.Remove(fd.get());
  EXPECT_TRUE(poller.Wait(Duration()).empty());
  poller.Remove(fd.get());
}

TEST(PollerTest, ChangesWhatIsWaitedFor) {
  const UniqueFd fd = Event();
  Poller poller;
  poller.Add(fd.get(), 1);
  EXPECT_TRUE(poller.Wait(Duration()).empty());
  poller.Change(fd.get(), 2, EPOLLOUT);
  const Poller::Ready found = poller.Wait(Duration());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.begin()->data.u64, 2U);
}

TEST(PollerTest, WaitsAsLongAsItMay) {
  Poller poller;
  const Instant start = MonotonicClock::Now();
  EXPECT_TRUE(poller.Wait(Duration::Microseconds(300)).empty());
  EXPECT_GE(MonotonicClock::Now() - start, Duration::Microseconds(300));
  EXPECT_TRUE(poller.Wait(Duration::Seconds(-1)).empty());
}

TEST(PollerTest, CanItselfBeWatched) {
  const UniqueFd fd = Event();
  Poller inner, outer;
  inner.Add(fd.get(), 0);
  outer.Add(inner.fd(), 5);
  EXPECT_TRUE(outer.Wait(Duration()).empty());
  eventfd_write(fd.get(), 1);
  EXPECT_EQ(outer.Wait(Duration()).size(), 1U);
}

TEST(PollerTest, WhatIsNoDescriptorIsAnError) {
  Poller poller;
  EXPECT_THROW(poller.Add(-1, 0), SystemError);
}

}  // namespace
}  // namespace viaduct
