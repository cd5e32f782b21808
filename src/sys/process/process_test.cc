#include "sys/process/process.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"

namespace viaduct::sys {
namespace {

TEST(Process, StartTimeSurvivesAnyName) {
  const char* rest = " S 1 1 1 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2 3\n";
  for (const char* name : {"sh", "a b", "a) S 1 (b", "))"}) {
    EXPECT_EQ(ParseStartTime("42 (" + std::string(name) + ")" + rest), 987654U) << name;
  }
}

TEST(Process, HighestPriorityIsTakenWhereItMay) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    rlimit limit{};
    getrlimit(RLIMIT_NICE, &limit);
    const bool may = geteuid() == 0 || limit.rlim_cur == 40;
    AllowHighestPriority();
    const int nice = TakeHighestPriority();
    const bool consistent = nice == getpriority(PRIO_PROCESS, 0);
    _exit(consistent && (!may || nice == -20) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Process, OnlyAnOwnSessionIsFavoured) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool other = FavourOwnSession();
    setsid();
    const bool own = FavourOwnSession();
    std::string text;
    std::getline(std::ifstream("/proc/self/autogroup"), text);
    _exit(!other && own == text.ends_with("nice -20") ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Process, DescendantsAreChildrenAndGrandchildren) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int child = fork();
  if (child == 0) {
    close(ends[1]);
    const int grandchild = fork();
    char byte;
    while (read(ends[0], &byte, 1) > 0) {
    }
    if (grandchild > 0) waitpid(grandchild, nullptr, 0);
    _exit(0);
  }
  close(ends[0]);
  std::vector<int> found;
  while (found.size() < 2) found = Descendants();
  EXPECT_EQ(found.size(), 2U);
  EXPECT_EQ(found.front(), child);
  close(ends[1]);
  waitpid(child, nullptr, 0);
}

TEST(Process, MalformedStatHasNoStartTime) {
  EXPECT_EQ(ParseStartTime(""), 0U);
  EXPECT_EQ(ParseStartTime("42 (sh) S 1 1"), 0U);
  EXPECT_EQ(ParseStartTime("42 (sh"), 0U);
  EXPECT_EQ(ParseStartTime("1 (a) S 1 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 1 0 -7 1"), 0U);
}

TEST(Process, HasEndedBeforeItIsGone) {
  EXPECT_FALSE(HasEnded("7 (a Z) S 1 7 7 0 -1 4194560 1"));
  EXPECT_TRUE(HasEnded("7 (a) Z 1 7 7 0 -1 4194560 1"));
  EXPECT_TRUE(HasEnded("7 (a) R 1 7 7 0 -1 4194564 1"));  // the flags of a process that is exiting
}

TEST(Process, OursIsAlive) {
  const uint64_t start = ProcessStartTime(getpid());
  EXPECT_GT(start, 0U);
  EXPECT_TRUE(ProcessAlive(getpid(), start));
  EXPECT_FALSE(ProcessAlive(getpid(), start + 2));
  EXPECT_FALSE(ProcessAlive(0, 0));
}

TEST(Process, ForkedOneExitsWithItsStatusThoughAThreadOfItsParentHasEnded) {
  std::atomic<int> tid = 0;
  std::thread thread([&] { tid = gettid(); });
  const auto ended = [&] { return tid != 0 && tgkill(getpid(), tid, 0) != 0; };
  while (!ended()) std::this_thread::yield();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) ExitForked(0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  thread.join();
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Process, EndsOneThatIgnoresTerm) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGTERM, SIG_IGN);
    if (write(ready[1], "x", 1) != 1) _exit(1);
    while (true) pause();
  }
  char byte;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  close(ready[1]);
  const uint64_t start = ProcessStartTime(child);
  TerminateProcesses({child}, Duration::Milliseconds(1));
  EXPECT_FALSE(ProcessAlive(child, start));  // a zombie does not count as alive
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
}

TEST(Process, MoreAreTerminatedThanThereAreDescriptors) {
  std::vector<pid_t> children;
  for (int i = 0; i < 7; ++i) {
    children.push_back(fork());
    if (children.back() == 0) {
      while (true) pause();
    }
  }
  const int lowest = dup(STDIN_FILENO);
  close(lowest);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = static_cast<rlim_t>(lowest) + 2;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  TerminateProcesses(children, Duration::Seconds(60));
  few.rlim_cur = static_cast<rlim_t>(lowest);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  EXPECT_THROW(TerminateProcesses({getpid()}, Duration()), SystemError);
  EXPECT_THROW(ProcessStartTime(getpid()), SystemError) << "it is not dead";
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(WTERMSIG(status), SIGTERM);
  }
}

}  // namespace
}  // namespace viaduct::sys
