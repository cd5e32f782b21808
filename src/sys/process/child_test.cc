#include "sys/process/child.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <vector>

#include "base/clock.h"
#include "base/wait_status.h"
#include "sys/process/process.h"

namespace viaduct::sys {
namespace {

constexpr Duration kLong = Duration::Seconds(60);

// Forks a child that exits with this status; for -1 a child that waits for a signal.
Child Fork(int status = -1) {
  const pid_t pid = fork();
  if (pid != 0) return Child(pid);
  if (status >= 0) ExitForked(status);
  for (;;) pause();
}

TEST(ChildTest, EndsInWords) {
  Child three = Fork(3), killed = Fork();
  killed.Signal(SIGKILL);
  EXPECT_EQ(DescribeEnding(three.Wait()), "ended with status 3");
  EXPECT_EQ(DescribeEnding(killed.Wait()), "was killed by signal 9 (Killed)");
  EXPECT_EQ(ShellStatus(three.Wait()), 3);
  EXPECT_EQ(ShellStatus(killed.Wait()), 137);
  EXPECT_TRUE(EndedWith(three.Wait(), 3));
  EXPECT_FALSE(EndedWith(three.Wait(), 0));
  EXPECT_FALSE(EndedWith(killed.Wait(), 0));
}

TEST(ChildTest, IsWaitedForAsLongAsWanted) {
  Child child = Fork();
  EXPECT_EQ(child.WaitFor(Duration::Milliseconds(1)), std::nullopt);
  child.Signal(SIGTERM);
  const Instant start = MonotonicClock::Now();
  EXPECT_EQ(child.WaitFor(kLong), SIGTERM);
  EXPECT_EQ(child.WaitFor(kLong), SIGTERM);
  EXPECT_LT(MonotonicClock::Now() - start, kLong / 2);
}

TEST(ChildTest, GoesWithItsObject) {
  pid_t pid = 0;
  uint64_t start = 0;
  {
    std::vector<Child> children(2);
    children[0] = Fork();
    pid = children[0].pid();
    children[1] = std::move(children[0]);
    EXPECT_EQ(children[0].pid(), -1) << "moved";
    EXPECT_EQ(children[1].pid(), pid);
    start = ProcessStartTime(pid);
    EXPECT_TRUE(ProcessAlive(pid, start));
  }
  EXPECT_FALSE(ProcessAlive(pid, start));
}

TEST(RunProgramTest, PassesInputTakesOutputAndStatus) {
  const ProgramResult result = RunProgram({"sh", "-c", "cat; echo more >&2; exit 3"}, "text\n");
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.output, "text\nmore\n");
  EXPECT_EQ(RunProgram({"sh", "-c", "kill -9 $$"}).status, 137);
  EXPECT_EQ(RunProgram({"viaduct-no-such-program"}).status, 127);
}

TEST(RunProgramTest, NothingBlocksOnLongTexts) {
  const std::string text(1 << 20, 'x');
  EXPECT_EQ(RunProgram({"cat"}, text).output, text);
}

}  // namespace
}  // namespace viaduct::sys
