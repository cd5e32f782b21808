#include "guest/process/boot_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/fd.h"
#include "sys/process/process.h"

namespace viaduct::guest {
namespace {

namespace fs = std::filesystem;

class BootFolderTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    place_ = fs::path(testing::TempDir()) / ("viaduct-boot-" + std::to_string(getpid()));
    fs::create_directory(place_);
    if (const char* before = getenv("TMPDIR")) before_ = before;
    setenv("TMPDIR", place_.c_str(), 1);
  }
  void TearDown() override {
    before_ ? setenv("TMPDIR", before_->c_str(), 1) : unsetenv("TMPDIR");
    fs::remove_all(place_);
  }
  fs::path place_;
  std::optional<std::string> before_;
};

TEST_F(BootFolderTest, IsRemovedWithAllThatIsInIt) {
  fs::path memory;
  {
    const BootFolder folder;
    EXPECT_EQ(folder.path().parent_path(), place_);
    std::ofstream(folder.path() / "file") << "text";
    memory = folder.memory();
    EXPECT_TRUE(fs::is_empty(memory));
    EXPECT_EQ(fs::status(memory).permissions(), fs::perms::owner_all);
  }
  EXPECT_TRUE(fs::is_empty(place_));
  EXPECT_FALSE(fs::exists(memory));
}

TEST_F(BootFolderTest, NoPlaceForItIsOneLineThatSaysWhatToDo) {
  std::ofstream(place_ / "file") << "text";
  for (const fs::path& no_folder : {place_ / "missing", place_ / "file", fs::path("/proc")}) {
    setenv("TMPDIR", no_folder.c_str(), 1);
    try {
      const BootFolder folder;
      ADD_FAILURE() << no_folder << " took a folder";
    } catch (const EnvironmentError& error) {
      const std::string words = error.what();
      EXPECT_NE(words.find(no_folder.string()), std::string::npos) << words;
      EXPECT_NE(words.find("set TMPDIR to another directory"), std::string::npos) << words;
    }
  }
}

// Checks that the folders are removed after kill -9 of the simulator, and after Ctrl-C, which every
// process of the simulator's process group receives.
TEST_P(BootFolderTest, IsRemovedWhenItsProcessIsKilled) {
  int ends[2];
  SystemCall("pipe", pipe(ends));
  UniqueFd reader(ends[0]), writer(ends[1]);
  const int child = SystemCall("fork", fork());
  if (child == 0) {
    setpgid(0, 0);
    signal(SIGINT, SIG_DFL);
    const BootFolder folder;
    std::ofstream(folder.path() / "file") << "text";
    (void)!write(writer.get(), "x", 1);
    for (;;) pause();
  }
  writer.reset();
  char byte;
  ASSERT_EQ(read(reader.get(), &byte, 1), 1);
  EXPECT_FALSE(fs::is_empty(place_));
  kill(-child, GetParam());
  waitpid(child, nullptr, 0);
  // Waits until the guardian has exited, because the guardian holds the pipe's write end as well.
  EXPECT_EQ(read(reader.get(), &byte, 1), 0);
  EXPECT_TRUE(fs::is_empty(place_));
}

// Checks that folders whose guardian was killed with kill -9 as well are removed later, because
// they are recorded.
TEST_F(BootFolderTest, WhatIsLeftIsRemovedLater) {
  int ends[2];
  SystemCall("pipe", pipe(ends));
  UniqueFd reader(ends[0]), writer(ends[1]);
  const int child = SystemCall("fork", fork());
  if (child == 0) {
    const BootFolder folder;
    std::ofstream(folder.path() / "file") << "text";
    for (const int guardian : sys::Descendants()) kill(guardian, SIGKILL);
    kill(getpid(), SIGKILL);
  }
  writer.reset();
  waitpid(child, nullptr, 0);
  char byte;
  EXPECT_EQ(read(reader.get(), &byte, 1), 0);  // the guardian has exited as well
  EXPECT_FALSE(fs::is_empty(place_));
  std::vector<std::string> problems;
  const auto removed = RemoveDeadBootFolders(&problems);
  EXPECT_TRUE(problems.empty()) << problems.front();
  ASSERT_FALSE(removed.empty());
  EXPECT_TRUE(fs::is_empty(place_));
  EXPECT_FALSE(fs::exists(removed.front().memory));
}

INSTANTIATE_TEST_SUITE_P(Signals, BootFolderTest, testing::Values(SIGKILL, SIGINT, SIGTERM));

}  // namespace
}  // namespace viaduct::guest
