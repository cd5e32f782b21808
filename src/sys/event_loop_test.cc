#include "sys/event_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "sys/descriptors.h"

namespace viaduct::sys {
namespace {

TEST(EventLoopTest, ManyDueActionsKeepNobodyWaiting) {
  Pipe signals = MakePipe(), pipe = MakePipe();
  EventLoop loop(std::move(signals.read), [](int) {});
  std::vector<std::string> happened;
  loop.Watch(pipe.read.get(), [&] {
    happened.push_back("ready");
    loop.Forget(pipe.read.get());
  });
  const Instant now = MonotonicClock::Now();
  loop.At(now, [&] {
    happened.push_back("first");
    EXPECT_EQ(write(pipe.write.get(), "x", 1), 1);
  });
  loop.At(now, [&] { happened.push_back("second"); });
  loop.Run([&] { return happened.size() == 3; }, Instant::Never());
  EXPECT_THAT(happened, testing::ElementsAre("first", "ready", "second"));
}

// Runs an action that adds itself again with a time in the past, so that an action is always due.
TEST(EventLoopTest, ActionsThatAreNeverAllDoneDoNotKeepItRunning) {
  Pipe signals = MakePipe();
  EventLoop loop(std::move(signals.read), [](int) {});
  int count = 0;
  const std::function<void()> again = [&] {
    ++count;
    loop.At(Instant(), again);
  };
  loop.At(Instant(), again);
  EXPECT_TRUE(loop.Run([&] { return count == 3; }));
  EXPECT_FALSE(loop.Run([] { return false; }, MonotonicClock::Now()));
}

TEST(EventLoopTest, SignalsAreSeenAfterTheDeadlineToo) {
  Pipe signals = MakePipe();
  EventLoop loop(std::move(signals.read), [](int) {});
  Pipe pipe = MakePipe();
  bool seen = false;
  loop.Watch(pipe.read.get(), [&] { seen = true; });
  EXPECT_EQ(write(pipe.write.get(), "x", 1), 1);
  EXPECT_TRUE(loop.Run([&] { return seen; }, Instant()));
}

}  // namespace
}  // namespace viaduct::sys
