#include "sys/process/launch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>

#include "base/file.h"
#include "sys/descriptors.h"
#include "sys/process/child.h"
#include "sys/signals.h"

namespace viaduct::sys {
namespace {

// Launches a program and returns its standard output.
std::string OutputOf(LaunchOptions options) {
  Pipe pipe = MakePipe();
  options.standard[1] = pipe.write.get();
  Child child(Launch(options));
  pipe.write.reset();
  std::string output = ReadToEnd(pipe.read.get(), "the program");
  EXPECT_EQ(child.Wait(), 0) << output;
  return output;
}

LaunchOptions Shell(const std::string& script) {
  LaunchOptions options;
  options.words = {"sh", "-c", script};
  return options;
}

TEST(LaunchTest, GivesFolderAndEnvironment) {
  LaunchOptions options = Shell("pwd; echo $A$B");
  options.folder = "/";
  options.environment = Environment{"PATH=/usr/bin:/bin", "A=1"};
  EXPECT_EQ(OutputOf(options), "/\n1\n");
  setenv("A", "own", 1);
  EXPECT_EQ(OutputOf(Shell("echo $A")), "own\n");
}

// Uses short and long values, so that the test would detect a dangling copy at the time of
// execution.
TEST(LaunchTest, EveryVariableArrivesWhole) {
  LaunchOptions options = Shell("env | sort");
  options.environment = Environment{"PATH=/usr/bin:/bin"};
  std::string expected;
  for (int i = 100; i < 200; ++i) {
    const std::string variable = "V" + std::to_string(i) + "=" + std::string(i, 'x');
    options.environment->push_back(variable);
    expected += variable + "\n";
  }
  EXPECT_THAT(OutputOf(options), testing::HasSubstr(expected));
}

// Lets the program hang before its execution, as if its folder were in a file system that does not
// answer.
TEST(LaunchTest, OneThatHangsIsGivenUpWhenNobodyWaitsForIt) {
  auto [ours, theirs] = MakeSocketPair(SOCK_SEQPACKET);
  LaunchOptions options = Shell("true");
  options.asker = ours.get();
  EXPECT_EQ(OutputOf(options), "") << "it is waited for";
  options.prepare = [] {
    while (true) pause();
  };
  theirs.reset();
  EXPECT_THROW(Launch(options), LaunchError);
}

TEST(LaunchTest, ItsOwnPathIsSearched) {
  LaunchOptions options = Shell("true");
  options.environment = Environment{"PATH=/no/such"};
  EXPECT_THROW(Launch(options), LaunchError);
}

TEST(LaunchTest, InheritsOnlyWhatItIsGiven) {
  const Pipe given = MakePipe(), other = MakePipe();
  fcntl(other.read.get(), F_SETFD, 0);
  LaunchOptions options = Shell("ls /proc/self/fd | wc -l; test -e /proc/$$/fd/$0 && echo given");
  options.words.push_back(std::to_string(given.read.get()));
  options.inherited = {given.read.get()};
  // Expects 5 entries: the descriptors 0 to 2, the given descriptor, and the descriptor with which
  // ls reads the folder.
  EXPECT_EQ(OutputOf(options), "5\ngiven\n");
}

TEST(LaunchTest, StandardStreamsMayBeAnyDescriptors) {
  Pipe pipe = MakePipe();
  LaunchOptions options = Shell("cat; echo error >&2");
  const UniqueFd input = MemoryFile("input", "in\n");
  options.standard = {input.get(), pipe.write.get(), pipe.write.get()};
  Child child(Launch(options));
  pipe.write.reset();
  EXPECT_EQ(ReadToEnd(pipe.read.get(), "the program"), "in\nerror\n");
}

TEST(LaunchTest, MakesGroupsAndSessions) {
  for (const auto group : {LaunchOptions::Group::kOwn, LaunchOptions::Group::kOwnSession}) {
    LaunchOptions options = Shell("exec sleep 100");
    options.group = group;
    Child child(Launch(options));
    EXPECT_EQ(getpgid(child.pid()), child.pid());
    const bool leads = getsid(child.pid()) == child.pid();
    EXPECT_EQ(leads, group == LaunchOptions::Group::kOwnSession);
  }
}

// Ignores signal 32, which the C library reserves, as posix_spawn(3) does in the programs that it
// starts.
void IgnoreLibrarySignal() {
  const std::array<uint64_t, 4> ignore = {reinterpret_cast<uintptr_t>(SIG_IGN)};
  ASSERT_EQ(syscall(SYS_rt_sigaction, 32, &ignore, nullptr, sizeof(uint64_t)), 0);
}

TEST(LaunchTest, NoSignalIsBlockedAndThoseThatAreIgnoredCanBeReset) {
  IgnoreLibrarySignal();
  ResetSignals();  // resets signals that are ignored in a test run in the background
  signal(SIGUSR1, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  LaunchOptions options = Shell("grep -E '^Sig(Blk|Ign)' /proc/self/status | cut -f2 | xargs");
  const std::string none(16, '0');
  EXPECT_EQ(OutputOf(options), none + " 0000000000000200\n");
  IgnoreLibrarySignal();
  options.default_signals = true;
  EXPECT_EQ(OutputOf(options), none + " " + none + "\n");
  ResetSignals();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  signal(SIGUSR1, SIG_DFL);
}

TEST(LaunchTest, SaysWhatFailed) {
  const auto failure = [](const LaunchOptions& options) {
    try {
      Child child(Launch(options));
    } catch (const LaunchError& error) {
      return std::pair(error.step(), std::string(error.what()));
    }
    return std::pair(LaunchError::Step::kPrepare, std::string("it runs"));
  };
  using Step = LaunchError::Step;
  LaunchOptions options = Shell("true");
  options.words[0] = "viaduct-no-such-program";
  EXPECT_EQ(failure(options),
            std::pair(Step::kExecute,
                      std::string("execute viaduct-no-such-program: No such file or directory")));
  options.folder = "/no/such";
  EXPECT_EQ(failure(options),
            std::pair(Step::kFolder,
                      std::string("change to directory /no/such: No such file or directory")));
  options.prepare = [] { throw SystemError("enter: the room", EBUSY); };
  EXPECT_EQ(failure(options),
            std::pair(Step::kPrepare, std::string("enter: the room: Device or resource busy")));
  options = Shell("true");
  options.terminal = true;
  options.group = LaunchOptions::Group::kOwnSession;
  EXPECT_EQ(failure(options).first, Step::kTerminal);
}

TEST(LaunchTest, VariablesAreReplaced) {
  Environment environment{"A=1", "AB=2", "A=3"};
  SetVariable(environment, "A", "x=y");
  EXPECT_THAT(environment, testing::ElementsAre("AB=2", "A=x=y"));
  UnsetVariable(environment, "AB");
  EXPECT_THAT(environment, testing::ElementsAre("A=x=y"));
}

}  // namespace
}  // namespace viaduct::sys
