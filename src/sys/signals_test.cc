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

}  // namespace
}  // namespace viaduct::sys
