#include "sys/process/find_program.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.h"

namespace viaduct::sys {
namespace {

TEST(FindProgramTest, LooksInPath) {
  EXPECT_TRUE(FindProgram("sh").ends_with("/sh"));
  EXPECT_EQ(FindProgram("viaduct-no-such-program"), "");
  EXPECT_EQ(FindProgram("/bin/sh"), "/bin/sh");
  EXPECT_EQ(FindProgram("/bin"), "");
  EXPECT_EQ(FindProgramIn("/nonexistent:/bin", "sh"), "/bin/sh");
  EXPECT_EQ(FindProgramIn("/nonexistent", "sh"), "");
}

TEST(FindProgramTest, CompanionsAreBesideThisProgramOrWhereTheVariableSays) {
  EXPECT_EQ(OwnProgram().filename(), "sys_process_test");
  EXPECT_EQ(FindCompanion("sys_process_test"), OwnProgram());
  EXPECT_THROW(FindCompanion("viaduct-no-such-file"), EnvironmentError);
  setenv("VIADUCT_LIBEXEC", "/etc", 1);
  EXPECT_EQ(FindCompanion("passwd"), "/etc/passwd");
  EXPECT_THROW(FindCompanion("sys_process_test"), EnvironmentError);
  unsetenv("VIADUCT_LIBEXEC");
}

}  // namespace
}  // namespace viaduct::sys
