#include "guest/image/patching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/file.h"
#include "sys/process/find_program.h"

namespace viaduct::guest {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kOldToNew =
    "Why.\n\nWithout this patch it is old.\n\n"
    "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-old\n+new\n";
constexpr std::string_view kLaterToNew =
    "Why.\n\nWithout this patch it is old.\n\n"
    "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-later\n+new\n";
constexpr std::string_view kSince7 =
    "Why.\n\nSince: 7.0\n\nWithout this patch it is old.\n\n"
    "--- a/file\n+++ b/file\n@@ -1 +1 @@\n-old\n+new\n";

class PatchingTest : public testing::Test {
 public:
  PatchingTest() { std::filesystem::create_directories(folder_ / "tree"); }
  ~PatchingTest() override { std::filesystem::remove_all(folder_); }

 protected:
  void SetUp() override {
    if (sys::FindProgram("patch").empty()) GTEST_SKIP() << "needs patch";
    MakeTree("VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 1\n", "old\n");
  }

  void MakeTree(std::string_view makefile, std::string_view text) const {
    std::ofstream(folder_ / "tree/Makefile") << "# SPDX\n" << makefile;
    std::ofstream(folder_ / "tree/file") << text;
  }
  std::vector<std::string> Patched(std::vector<Patch> patches) const {
    ToolOptions tool;
    tool.folder = folder_ / "tree";
    return ApplyPatches(patches, folder_, tool);
  }
  std::string Text() const { return ReadFileIfAny(folder_ / "tree/file"); }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("patching-" + std::to_string(getpid()));
};

TEST_F(PatchingTest, WhatAppliesIsApplied) {
  EXPECT_THAT(Patched({{"0001-a.patch", kOldToNew}}), IsEmpty());
  EXPECT_EQ(Text(), "new\n");
}

TEST_F(PatchingTest, WhatDoesNotApplyIsSkippedAndNamed) {
  EXPECT_THAT(Patched({{"0001-a.patch", kLaterToNew}, {"0002-b.patch", kOldToNew}}),
              ElementsAre("0001-a.patch"));
  EXPECT_EQ(Text(), "new\n");
}

TEST_F(PatchingTest, TheFirstOfANumberThatAppliesIsTaken) {
  const std::vector<Patch> patches = {{"0001-a.patch", kOldToNew}, {"0001-b.patch", kLaterToNew}};
  EXPECT_THAT(Patched(patches), IsEmpty());
  EXPECT_EQ(Text(), "new\n");
  MakeTree("VERSION = 7\nPATCHLEVEL = 3\n", "later\n");
  EXPECT_THAT(Patched(patches), IsEmpty());
  EXPECT_EQ(Text(), "new\n");
  MakeTree("VERSION = 8\nPATCHLEVEL = 0\n", "different\n");
  EXPECT_THAT(Patched(patches), ElementsAre("0001-a.patch", "0001-b.patch"));
  EXPECT_EQ(Text(), "different\n");
}

TEST_F(PatchingTest, KernelsBeforeItDoNotMissAPatch) {
  EXPECT_THAT(Patched({{"0001-a.patch", kSince7}}), IsEmpty());
  EXPECT_EQ(Text(), "old\n");
  MakeTree("VERSION = 7\nPATCHLEVEL = 0\n", "old\n");
  EXPECT_THAT(Patched({{"0001-a.patch", kSince7}}), IsEmpty());
  EXPECT_EQ(Text(), "new\n");
  EXPECT_THAT(Patched({{"0001-a.patch", kSince7}}), ElementsAre("0001-a.patch"));
}

}  // namespace
}  // namespace viaduct::guest
