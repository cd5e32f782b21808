#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"

namespace viaduct {
namespace {

using testing::HasSubstr;

template <typename E>
std::string MessageOf(const std::function<void()>& work) {
  try {
    work();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(FileTest, ReadsWhatWasWritten) {
  const std::string path = testing::TempDir() + "viaduct_file_test";
  std::string text(200000, 'x');
  text[7] = '\0';
  WriteFile(path, text);
  EXPECT_EQ(ReadFile(path), text);
  WriteFile(path, "short");
  EXPECT_EQ(ReadNamedFile(path), "short");
  std::filesystem::remove(path);
}

TEST(FileTest, ErrorsNameTheFileAndTheReason) {
  EXPECT_EQ(MessageOf<SystemError>([] { ReadFile("/no/such"); }),
            "open /no/such: No such file or directory");
  EXPECT_EQ(MessageOf<SystemError>([] { ReadFile("/tmp"); }), "read /tmp: Is a directory");
  EXPECT_EQ(MessageOf<SystemError>([] { WriteFile("/no/such", ""); }),
            "create /no/such: No such file or directory");
  EXPECT_EQ(MessageOf<SystemError>([] { WriteFile("/dev/full", "x"); }),
            "write /dev/full: No space left on device");
}

TEST(FileTest, AFileOfTheUsersIsTheUsersError) {
  EXPECT_EQ(MessageOf<UsageError>([] { ReadNamedFile("/tmp"); }),
            "/tmp: cannot be read: Is a directory");
}

TEST(FileTest, AFileWithoutAnEndIsNotReadForever) {
  for (const char* path : {"/dev/zero", "/dev/urandom"}) {
    EXPECT_EQ(MessageOf<UsageError>([&] { ReadNamedFile(path); }),
              std::string(path) + ": is longer than 256 MiB; is it the right file?");
  }
}

TEST(FileTest, AFileThatMayBeAbsentIsEmptyThen) {
  EXPECT_EQ(ReadFileIfAny("/no/such"), "");
  EXPECT_THAT(ReadFileIfAny("/proc/self/stat"), HasSubstr(" (base_test) "));
}

TEST(FileTest, AFileInMemoryIsReadFromItsStart) {
  const UniqueFd file = MemoryFile("words", "some words");
  EXPECT_EQ(ReadToEnd(file.get(), "words"), "some words");
}

}  // namespace
}  // namespace viaduct
