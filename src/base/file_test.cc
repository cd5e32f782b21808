#include "base/file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/library_file.h"

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

TEST(FileTest, WhatIsNoRegularFileIsNotOpened) {
  const std::string fifo = testing::TempDir() + "viaduct_file_test_fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(MessageOf<UsageError>([&] { ReadRegularFile(fifo); }),
            fifo + " is a FIFO; use a regular file");
  EXPECT_EQ(MessageOf<UsageError>([&] { CheckIsWholeLibrary(fifo); }),
            fifo + " is a FIFO; use a regular file");
  std::filesystem::remove(fifo);
  EXPECT_EQ(MessageOf<UsageError>([] { ReadRegularFile("/dev/zero"); }),
            "/dev/zero is a device; use a regular file");
  EXPECT_EQ(MessageOf<UsageError>([] { ReadRegularFile("/tmp"); }),
            "/tmp is a folder; use a regular file");
  EXPECT_EQ(MessageOf<UsageError>([] { ReadRegularFile("/no/such"); }),
            "/no/such: cannot be read: No such file or directory");
  const std::string path = testing::TempDir() + "viaduct_file_test_regular";
  WriteFile(path, "text");
  EXPECT_EQ(ReadRegularFile(path), "text");
  std::filesystem::remove(path);
}

// Refuses a sparse file of 1 TiB by its length: reading it would take as much memory.
TEST(FileTest, ALongFileIsRefusedBeforeItIsRead) {
  const std::string path = testing::TempDir() + "viaduct_file_test_long";
  WriteFile(path, "");
  std::filesystem::resize_file(path, uint64_t{1} << 40);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  EXPECT_EQ(MessageOf<UsageError>([&] { ReadNamedFile(path); }),
            path + " is longer than 256 MiB; check the file's name");
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 100 << 10) << "KiB";
  std::filesystem::remove(path);
}

TEST(FileTest, AFileWithoutAnEndIsNotReadForever) {
  for (const char* path : {"/dev/zero", "/dev/urandom"}) {
    EXPECT_EQ(MessageOf<UsageError>([&] { ReadNamedFile(path); }),
              std::string(path) + " is longer than 256 MiB; check the file's name");
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

TEST(FileTest, ACurrentFolderThatIsGoneIsSaid) {
  EXPECT_EQ(CurrentFolder(), std::filesystem::current_path().string());
  const UniqueFd before(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::string gone = testing::TempDir() + "gone";
  std::filesystem::create_directory(gone);
  ASSERT_EQ(chdir(gone.c_str()), 0);
  std::filesystem::remove(gone);
  EXPECT_EQ(MessageOf<UsageError>([] { CurrentFolder(); }),
            "the current folder has been removed; change to another folder");
  ASSERT_EQ(fchdir(before.get()), 0);
}

class LibraryFileTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }

  void Check(const std::string& content) {
    WriteFile(file_, content);
    CheckIsWholeLibrary(file_);
  }

  // The text of this test program's file, which is an ELF file as a library is.
  const std::string whole_ = ReadFile("/proc/self/exe");
  const std::string file_ = testing::TempDir() + "library_file_test.so";
};

TEST_F(LibraryFileTest, WhatIsCutOffIsRefusedWhereverItEnds) {
  EXPECT_NO_THROW(Check(whole_));
  for (const size_t size :
       {size_t{64}, size_t{65}, size_t{4096}, whole_.size() / 2, whole_.size() - 1}) {
    EXPECT_THROW(Check(whole_.substr(0, size)), UsageError) << size;
  }
}

TEST_F(LibraryFileTest, WhatIsNoLibraryIsNotItsMatter) {
  EXPECT_NO_THROW(Check(""));
  EXPECT_NO_THROW(Check("a text"));
  EXPECT_NO_THROW(Check(whole_.substr(0, 63)));
  EXPECT_NO_THROW(CheckIsWholeLibrary("/nonexistent/lib.so"));
}

}  // namespace
}  // namespace viaduct
