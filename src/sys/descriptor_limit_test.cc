#include "sys/descriptor_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "sys/process/child.h"
#include "sys/process/launch.h"

namespace viaduct::sys {
namespace {

using testing::AllOf;
using testing::HasSubstr;

rlimit Limit() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit;
}

// Runs `check` in a separate process, because a lowered hard limit cannot be raised again. Returns
// the result of `check`.
template <class Check>
bool InProcess(Check check) {
  const int pid = fork();
  if (pid == 0) _exit(check() ? 0 : 1);
  return WEXITSTATUS(AwaitChild(pid)) == 0;
}

TEST(DescriptorLimit, IsRaisedAsFarAsNeededAndRestoredForPrograms) {
  EXPECT_TRUE(InProcess([] {
    const rlimit before{200, 400};
    setrlimit(RLIMIT_NOFILE, &before);
    RequireDescriptors(150, "the test needs");
    if (Limit().rlim_cur != 200) return false;
    RequireDescriptors(300, "the test needs");
    if (Limit().rlim_cur != 300) return false;
    RaiseDescriptorLimit();
    if (Limit().rlim_cur != 400) return false;
    RestoreDescriptorLimit();
    return Limit().rlim_cur == 200;
  }));
}

TEST(DescriptorLimit, ProgramsStartWhereMoreIsOpenThanTheirLimit) {
  EXPECT_TRUE(InProcess([] {
    const rlimit before{64, 400};
    setrlimit(RLIMIT_NOFILE, &before);
    RaiseDescriptorLimit();
    for (int i = 0; i < 100; ++i) (void)dup(STDERR_FILENO);
    LaunchOptions options;
    options.words = {"sh", "-c", "test $(ulimit -n) = 64"};
    options.former_descriptor_limit = true;
    return WEXITSTATUS(AwaitChild(Launch(options))) == 0;
  }));
}

TEST(DescriptorLimit, SaysWhatIsNeededAndWhatThereIs) {
  EXPECT_TRUE(InProcess([] {
    const rlimit before{200, 400};
    setrlimit(RLIMIT_NOFILE, &before);
    try {
      RequireDescriptors(2314, "the lab of 250 nodes needs");
    } catch (const EnvironmentError& error) {
      return testing::Value(
          std::string(error.what()),
          HasSubstr("the lab of 250 nodes needs 2314 open files, but the limit is "
                    "400: raise the limit (ulimit -Hn 2314"));
    }
    return false;
  }));
}

TEST(DescriptorLimit, RootMayRaiseTheHardLimitAndLeavesTheSoftOne) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root (CAP_SYS_RESOURCE)";
  EXPECT_TRUE(InProcess([] {
    const rlimit before{200, 400};
    setrlimit(RLIMIT_NOFILE, &before);
    rlimit more{200, 401};
    if (setrlimit(RLIMIT_NOFILE, &more) != 0) return true;  // a container without CAP_SYS_RESOURCE
    AllowMoreDescriptors();
    return Limit().rlim_cur == 200 && Limit().rlim_max >= 1 << 18;
  }));
}

}  // namespace
}  // namespace viaduct::sys
