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

}  // namespace
}  // namespace viaduct::sys
