#include "sys/process/invoking_user.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "base/error.h"
#include "sys/process/child.h"
#include "sys/process/process.h"

namespace viaduct::sys {
namespace {

TEST(InvokingUserTest, IsWhoCalledSudoIfAnybodyDid) {
  setenv("SUDO_UID", "1234", 1);
  setenv("SUDO_GID", "5678", 1);
  const bool root = geteuid() == 0;
  EXPECT_EQ(InvokingUser().uid, root ? 1234U : getuid());
  EXPECT_EQ(InvokingUser().gid, root ? 5678U : getgid());
  setenv("SUDO_UID", "x", 1);
  if (root) {
    EXPECT_THROW(InvokingUser(), UsageError);
  }
  unsetenv("SUDO_UID");
  unsetenv("SUDO_GID");
  EXPECT_EQ(InvokingUser().uid, getuid());
}

TEST(InvokingUserTest, RootGivesItselfUp) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  const pid_t child = fork();
  if (child == 0) {
    Become({1234, 5678});
    const bool done = geteuid() == 1234 && getegid() == 5678 && setuid(0) != 0;
    ExitForked(done ? 0 : 1);
  }
  EXPECT_EQ(AwaitChild(child), 0);
}

TEST(InvokingUserTest, AccountsAreThoseOfTheMachine) {
  const auto root = FindAccount(0);
  ASSERT_TRUE(root);
  EXPECT_EQ(root->name, "root");
  EXPECT_FALSE(root->home.empty());
  EXPECT_FALSE(FindAccount(1999999999));
}

}  // namespace
}  // namespace viaduct::sys
