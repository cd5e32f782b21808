#include "remote/claim/key.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"

namespace viaduct::claim {
namespace {

class ClaimKey : public testing::Test {
 protected:
  ClaimKey() {
    char name[] = "/tmp/viaduct-key-XXXXXX";
    folder_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Refusal() const {
    try {
      ReadKey(file());
      return "";
    } catch (const UsageError& error) {
      return error.what();
    }
  }
  std::string file() const { return folder_ / "deep/er/hub.key"; }

  std::filesystem::path folder_;
};

TEST_F(ClaimKey, IsMadeOnceAndItsOwnersAlone) {
  const Key key = ReadOrMakeKey(file());
  EXPECT_EQ(ReadOrMakeKey(file()), key);
  EXPECT_EQ(ReadKey(file()), key);
  EXPECT_NE(key, Key());
  struct stat status;
  ASSERT_EQ(stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  ASSERT_EQ(stat((folder_ / "deep").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0700u);
  EXPECT_EQ(ReadFile(file()).size(), 65u);
}

TEST_F(ClaimKey, LeavesNothingWhereItCannotBeWritten) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit few{10, before.rlim_max};  // a limit of 10 bytes for files, as if the disk were full
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &few), 0);
  EXPECT_THROW(ReadOrMakeKey(file()), Error);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  EXPECT_TRUE(std::filesystem::is_empty(std::filesystem::path(file()).parent_path()));
}

TEST_F(ClaimKey, ThatOthersCanReadIsRefused) {
  ReadOrMakeKey(file());
  for (const mode_t mode : {0640, 0604, 0620, 0602}) {
    chmod(file().c_str(), mode);
    EXPECT_NE(Refusal().find("chmod 600"), std::string::npos) << Refusal();
  }
  chmod(file().c_str(), 0400);
  EXPECT_EQ(Refusal(), "");
}

TEST_F(ClaimKey, ThatIsNoneIsRefused) {
  EXPECT_NE(Refusal().find("the key file does not exist"), std::string::npos);
  ReadOrMakeKey(file());
  const std::string good = ReadFile(file());
  for (const std::string& text :
       {std::string(), good.substr(1), "0" + good, "g" + good.substr(1), good + good}) {
    WriteFile(file(), text);
    EXPECT_NE(Refusal().find("does not contain a key"), std::string::npos) << text;
  }
  WriteFile(file(), good.substr(0, 64));  // the file has no end of line, which an editor may omit
  EXPECT_EQ(Refusal(), "");
  std::filesystem::remove(file());
  mkfifo(file().c_str(), 0600);
  EXPECT_NE(Refusal().find("regular file"), std::string::npos);
}

TEST_F(ClaimKey, ItsNameTellsKeysApart) {
  const Key zero;
  Key one;
  one.secret[31] = 1;
  EXPECT_EQ(zero.Id().size(), 16u);
  EXPECT_NE(zero.Id(), one.Id());
  EXPECT_EQ(zero.Id(), Key().Id());
}

TEST_F(ClaimKey, IsWhereTheUsersConfigurationIs) {
  setenv("XDG_CONFIG_HOME", "/somewhere", 1);
  EXPECT_EQ(DefaultKeyFile(), "/somewhere/viaduct/hub.key");
  unsetenv("XDG_CONFIG_HOME");
  setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(DefaultKeyFile(), "/home/someone/.config/viaduct/hub.key");
}

}  // namespace
}  // namespace viaduct::claim
