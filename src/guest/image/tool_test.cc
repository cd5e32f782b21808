#include "guest/image/tool.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/fd.h"
#include "sys/process/process.h"

namespace viaduct::guest {
namespace {

using testing::ElementsAre;

TEST(Tool, LinesComeOneByOneAndTheLastNeedsNoEnd) {
  std::vector<std::string> lines;
  ToolOptions options;
  options.line = [&](std::string_view line) { lines.emplace_back(line); };
  EXPECT_EQ(RunTool({"sh", "-c", "echo a; echo b >&2; printf c; exit 3"}, options), 3);
  EXPECT_THAT(lines, ElementsAre("a", "b", "c"));
}

TEST(Tool, EnvironmentIsSetAndTakenAway) {
  setenv("VIADUCT_TOOL_TEST", "mine", 1);
  ToolOptions options;
  options.environment = {"VIADUCT_TOOL_TEST", "OTHER=x=y"};
  EXPECT_EQ(ToolOutput({"sh", "-c", "echo ${VIADUCT_TOOL_TEST-none} $OTHER $LC_ALL"}, options),
            "none x=y C\n");
  unsetenv("VIADUCT_TOOL_TEST");
}

TEST(Tool, FailureCarriesTheLastLine) {
  try {
    ToolOutput({"sh", "-c", "echo first; echo it broke; exit 7"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("it broke"));
    EXPECT_THAT(error.what(), testing::HasSubstr("status 7"));
  }
}

TEST(Tool, MissingProgramIsNamed) {
  EXPECT_THROW(RunTool({"no-such-program-of-viaduct"}), EnvironmentError);
}

TEST(Tool, KilledProgramHasTheSignalInItsStatus) {
  EXPECT_EQ(RunTool({"sh", "-c", "kill -9 $$"}), 128 + SIGKILL);
}

TEST(Tool, LogIsAppended) {
  const std::string log = testing::TempDir() + "/tool." + std::to_string(getpid()) + ".log";
  std::filesystem::remove(log);
  ToolOptions options;
  options.log = log;
  RunTool({"echo", "one"}, options);
  RunTool({"echo", "two"}, options);
  EXPECT_EQ(ToolOutput({"cat", log}), "one\ntwo\n");
  std::filesystem::remove(log);
}

// Checks that a cancellation kills the program and its child, which would wait for ever otherwise.
TEST(Tool, CancelKillsTheProgramAndWhatItStarted) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const UniqueFd read_end(ends[0]);
  UniqueFd write_end(ends[1]), grandchild;
  ToolOptions options;
  options.cancel_fd = read_end.get();
  options.line = [&](std::string_view line) {
    grandchild = sys::OpenPidFd(std::stoi(std::string(line)));
    write_end.reset();  // cancels the tool
  };
  EXPECT_THROW(RunTool({"sh", "-c", "sleep 1000 & echo $!; wait"}, options), ToolCancelled);
  ASSERT_TRUE(grandchild);
  pollfd ended{grandchild.get(), POLLIN, 0};
  EXPECT_EQ(poll(&ended, 1, 10000), 1);
}

}  // namespace
}  // namespace viaduct::guest
