#include "guest/process/confinement.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>

#include "base/error.h"

namespace viaduct::guest {
namespace {

namespace fs = std::filesystem;

TEST(MissingOfLandlockTest, EachVersionSaysWhatItDoesNotPrevent) {
  EXPECT_THAT(MissingOfLandlock(0), testing::HasSubstr("does not support Landlock"));
  for (const int version : {1, 2, 3}) {  // Landlock of Linux 5.13, 5.19, 6.2
    EXPECT_THAT(MissingOfLandlock(version), testing::HasSubstr("TCP")) << version;
  }
  for (const int version : {4, 5}) {  // Landlock of Linux 6.7, 6.10
    EXPECT_THAT(MissingOfLandlock(version), testing::HasSubstr("signal")) << version;
    EXPECT_THAT(MissingOfLandlock(version), testing::Not(testing::HasSubstr("TCP"))) << version;
  }
  EXPECT_EQ(MissingOfLandlock(6), "");
  EXPECT_EQ(MissingOfLandlock(7), "") << "audit is no restriction";
}

class ConfinementTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = ConfinementUnavailable(); !why.empty()) GTEST_SKIP() << why;
    place_ = fs::path(testing::TempDir()) / ("viaduct-confined-" + std::to_string(getpid()));
    for (const fs::path& folder : {place_, own(), others()}) fs::create_directory(folder);
    std::ofstream(others() / "file") << "text";
    std::ofstream(own() / "file") << "text";
  }
  void TearDown() override { fs::remove_all(place_); }

  fs::path own() const { return place_ / "own"; }
  fs::path others() const { return place_ / "others"; }

  // Calls `attempt` in a confined process and returns the errno that it sets; 0 if it does not
  // return -1.
  int ErrorOf(const std::function<long()>& attempt) const {
    const std::array writable{own(), fs::path("/dev/null")};
    const Confinement confinement(writable);
    const pid_t child = fork();
    if (child == 0) {
      confinement.Enter();
      _exit(attempt() == -1 ? errno : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status);
  }

  fs::path place_;
};

TEST_F(ConfinementTest, OthersFilesAreReadOnly) {
  const std::string file = others() / "file", fresh = others() / "new";
  EXPECT_EQ(ErrorOf([&] { return open(file.c_str(), O_RDONLY); }), 0);
  EXPECT_EQ(ErrorOf([&] { return open(file.c_str(), O_WRONLY); }), EACCES);
  EXPECT_EQ(ErrorOf([&] { return open(file.c_str(), O_RDONLY | O_TRUNC); }), EACCES);
  EXPECT_EQ(ErrorOf([&] { return open(fresh.c_str(), O_WRONLY | O_CREAT, 0600); }), EACCES);
  EXPECT_EQ(ErrorOf([&] { return truncate(file.c_str(), 0); }), EPERM);
  EXPECT_EQ(ErrorOf([&] { return unlink(file.c_str()); }), EACCES);
  EXPECT_EQ(ErrorOf([&] { return mkdir(fresh.c_str(), 0700); }), EACCES);
  EXPECT_NE(ErrorOf([&] { return rename(file.c_str(), (own() / "moved").c_str()); }), 0);
  EXPECT_EQ(ErrorOf([&] { return chmod(file.c_str(), 0777); }), EPERM);
  EXPECT_EQ(ErrorOf([&] { return fchmodat(AT_FDCWD, file.c_str(), 0777, 0); }), EPERM);
  EXPECT_EQ(ErrorOf([&] { return chown(file.c_str(), getuid(), getgid()); }), EPERM);
  EXPECT_EQ(ErrorOf([&] { return utimensat(AT_FDCWD, file.c_str(), nullptr, 0); }), EPERM);
  EXPECT_EQ(ErrorOf([&] { return setxattr(file.c_str(), "user.a", "b", 1, 0); }), EPERM);
}

TEST_F(ConfinementTest, ModesOfOpenFilesStay) {
  const int fd = open((others() / "file").c_str(), O_RDONLY | O_CLOEXEC);
  fchmod(fd, 0600);
  EXPECT_EQ(ErrorOf([&] { return fchmod(fd, 0666); }), EPERM);
  EXPECT_EQ(ErrorOf([&] { return fchmod(fd, 0777); }), 0) << "and does nothing";
  EXPECT_EQ(fs::status(others() / "file").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
  close(fd);
}

TEST_F(ConfinementTest, ItsOwnFolderIsWritten) {
  const std::string file = own() / "file", fresh = own() / "new";
  EXPECT_EQ(ErrorOf([&] { return open(file.c_str(), O_RDWR); }), 0);
  EXPECT_EQ(ErrorOf([&] { return open(fresh.c_str(), O_WRONLY | O_CREAT, 0600); }), 0);
  EXPECT_EQ(ErrorOf([&] { return open(own().c_str(), O_RDWR | O_TMPFILE, 0600); }), 0);
  EXPECT_EQ(ErrorOf([&] { return unlink(fresh.c_str()); }), 0);
  EXPECT_EQ(ErrorOf([&] { return open("/dev/null", O_RDWR); }), 0);
  EXPECT_EQ(ErrorOf([&] { return truncate(file.c_str(), 0); }), EPERM)
      << "the simulator has mapped it";
}

TEST_F(ConfinementTest, ItsProcessesMayDoAllThatKernelsDo) {
  EXPECT_EQ(ErrorOf([] {
              const pid_t child = fork();
              if (child == 0) pause();
              kill(child, SIGKILL);
              return waitpid(child, nullptr, 0) == child ? 0 : -1;
            }),
            0);
  EXPECT_EQ(ErrorOf([] { return execl("/bin/true", "true", nullptr); }), 0);
}

TEST_F(ConfinementTest, NoTcpOfThisMachine) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(9);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int error = ErrorOf([&] {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    return connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  });
  // Kernels older than 6.7 do not restrict TCP connections.
  EXPECT_TRUE(error == EACCES || error == ECONNREFUSED) << error;
}

}  // namespace
}  // namespace viaduct::guest
