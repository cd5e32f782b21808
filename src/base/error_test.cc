#include "base/error.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>

#include "base/fd.h"

namespace viaduct {
namespace {

TEST(ErrorTest, CarriesTheExitStatus) {
  EXPECT_EQ(Error("x").status(), ExitStatus::kFailure);
  EXPECT_EQ(UsageError("x").status(), ExitStatus::kUsage);
  EXPECT_EQ(EnvironmentError("x").status(), ExitStatus::kEnvironment);
  EXPECT_STREQ(UsageError("what, where, what to do").what(), "what, where, what to do");
}

TEST(ErrorTest, SystemErrorsSayWhatWasAttempted) {
  const SystemError error("open /etc/x", ENOENT);
  EXPECT_STREQ(error.what(), "open /etc/x: No such file or directory");
  EXPECT_EQ(error.error_number(), ENOENT);
  EXPECT_EQ(error.status(), ExitStatus::kFailure);
  EXPECT_EQ(SystemError("x", EPERM).status(), ExitStatus::kEnvironment);
  EXPECT_EQ(SystemError("x", EACCES).status(), ExitStatus::kEnvironment);
}

TEST(ErrorTest, SystemCallThrowsOnNegativeResultsOnly) {
  EXPECT_EQ(SystemCall("x", 0), 0);
  EXPECT_EQ(SystemCall("x", 7), 7);
  EXPECT_EQ(SystemCall("x", ssize_t{1} << 40), ssize_t{1} << 40);
  EXPECT_THROW(SystemCall("close", close(-1)), SystemError);
  try {
    SystemCall("close nothing", close(-1));
    FAIL();
  } catch (const SystemError& error) {
    EXPECT_EQ(error.error_number(), EBADF);
  }
}

bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

TEST(UniqueFdTest, ClosesWhatItOwnsOnce) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const UniqueFd kept(ends[1]);
  {
    UniqueFd fd(ends[0]);
    EXPECT_TRUE(fd);
    UniqueFd moved(std::move(fd));
    EXPECT_FALSE(fd);  // NOLINT(bugprone-use-after-move): moved-from is empty
    EXPECT_EQ(moved.get(), ends[0]);
    UniqueFd assigned;
    assigned = std::move(moved);
    EXPECT_TRUE(IsOpen(ends[0]));
  }
  EXPECT_FALSE(IsOpen(ends[0]));
  EXPECT_TRUE(IsOpen(ends[1]));
}

TEST(UniqueFdTest, ReleaseAndReset) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  UniqueFd a(ends[0]);
  EXPECT_EQ(a.release(), ends[0]);
  EXPECT_FALSE(a);
  EXPECT_TRUE(IsOpen(ends[0]));
  a.reset(ends[0]);
  a.reset(ends[1]);
  EXPECT_FALSE(IsOpen(ends[0]));
  a.reset();
  EXPECT_FALSE(IsOpen(ends[1]));
  EXPECT_FALSE(UniqueFd());
}

}  // namespace
}  // namespace viaduct
