#include "sys/privilege/spawn.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace viaduct::privilege {
namespace {

TEST(SpawnTest, OptionsSurviveTheJourney) {
  ProgramOptions program;
  program.node = "a";
  program.arguments = {"ping", "-c1", "10.0.0.1"};
  program.environment = {{"LANG", "C"}};
  program.working_directory = "/var";
  program.standard_output = 17;
  const auto received = nlohmann::json(program).get<ProgramOptions>();
  EXPECT_EQ(received.arguments, program.arguments);
  EXPECT_EQ(received.environment, program.environment);
  EXPECT_EQ(received.working_directory, "/var");
  EXPECT_EQ(received.standard_input, -1);
  EXPECT_EQ(received.standard_output, 0);  // the index among the passed descriptors
  EXPECT_EQ(received.standard_error, -1);
  EXPECT_FALSE(received.terminal);
  EXPECT_FALSE(received.new_privileges);
  program.new_privileges = true;
  EXPECT_TRUE(nlohmann::json(program).get<ProgramOptions>().new_privileges);

  program.terminal = true;
  // Refuses a program that has a terminal but no standard input.
  EXPECT_THROW(nlohmann::json(program).get<ProgramOptions>(), UsageError);
  program.standard_input = 16;
  EXPECT_TRUE(nlohmann::json(program).get<ProgramOptions>().terminal);
}

}  // namespace
}  // namespace viaduct::privilege
