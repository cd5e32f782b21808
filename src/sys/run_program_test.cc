#include "sys/run_program.h"

#include <gtest/gtest.h>

namespace viaduct::sys {
namespace {

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
