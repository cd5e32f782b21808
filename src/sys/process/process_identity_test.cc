#include "sys/process/process_identity.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/process/process.h"

namespace viaduct::sys {
namespace {

TEST(ProcessIdentityTest, OursIsAlive) {
  const ProcessIdentity own = OwnIdentity();
  EXPECT_EQ(own.pid, getpid());
  EXPECT_EQ(own.start_time, ProcessStartTime(getpid()));
  struct stat status;
  ASSERT_EQ(stat("/proc/self/ns/pid", &status), 0);
  EXPECT_EQ(own.pid_namespace, status.st_ino);
  EXPECT_EQ(LifeOf(own), Life::kAlive);
}

TEST(ProcessIdentityTest, AnotherOfThisNamespaceIsDead) {
  ProcessIdentity other = OwnIdentity();
  other.start_time -= 2;
  EXPECT_EQ(LifeOf(other), Life::kDead);
  EXPECT_EQ(LifeOf({0, 0, other.pid_namespace}), Life::kDead);
}

TEST(ProcessIdentityTest, ThePidAloneSaysNothingInAnotherNamespace) {
  ProcessIdentity other = OwnIdentity();
  other.pid_namespace += 1;
  EXPECT_NE(LifeOf(other), Life::kAlive);
}

}  // namespace
}  // namespace viaduct::sys
