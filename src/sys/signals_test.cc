#include "sys/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace viaduct::sys {
namespace {

TEST(SignalsTest, WaitForTheDescriptor) {
  const UniqueFd fd = CatchSignals({SIGUSR1, SIGUSR2});
  EXPECT_EQ(TakeSignal(fd.get()), 0);
  kill(getpid(), SIGUSR2);
  EXPECT_EQ(TakeSignal(fd.get()), SIGUSR2);
  EXPECT_EQ(TakeSignal(fd.get()), 0);
  UnblockSignals();
}

TEST(SignalsTest, AnIgnoredHangUpStaysIgnored) {
  signal(SIGHUP, SIG_IGN);
  const UniqueFd fd = CatchSignals({SIGHUP, SIGUSR1});
  kill(getpid(), SIGHUP);
  EXPECT_EQ(TakeSignal(fd.get()), 0);
  kill(getpid(), SIGUSR1);
  EXPECT_EQ(TakeSignal(fd.get()), SIGUSR1);
  EXPECT_EQ(signal(SIGHUP, SIG_DFL), SIG_IGN);
  UnblockSignals();
}

}  // namespace
}  // namespace viaduct::sys
