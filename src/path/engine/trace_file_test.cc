#include "path/engine/trace_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "base/error.h"

namespace viaduct::engine {
namespace {

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(TraceFileTest, HoldsEveryPieceWholeWhoeverWrites) {
  const std::string path = testing::TempDir() + "trace_file_test";
  constexpr int kPieces = 20000;
  {
    TraceFile file(path);
    std::vector<std::thread> threads;
    for (const std::string piece : {"left\n", "right\n"}) {
      threads.emplace_back([&file, piece] {
        for (int i = 0; i < kPieces; ++i) file.Write(piece);
      });
    }
    for (std::thread& thread : threads) thread.join();
    file.Finish();
    EXPECT_EQ(file.Trouble(), std::nullopt);
  }
  std::istringstream text(Contents(path));
  int left = 0, right = 0;
  for (std::string line; std::getline(text, line);) {
    left += line == "left";
    right += line == "right";
  }
  EXPECT_EQ(left, kPieces);
  EXPECT_EQ(right, kPieces);
  std::remove(path.c_str());
}

TEST(TraceFileTest, CountsWhatAFullDiskLost) {
  TraceFile file("/dev/full");
  file.Write("one");
  file.Write("two");
  file.Finish();
  file.Write("three");
  EXPECT_EQ(
      file.Trouble(),
      "/dev/full: up to 3 records are missing at the end of the trace: No space left on device");
}

TEST(TraceFileTest, AFifoThatNobodyReadsIsRefused) {
  const std::string path = testing::TempDir() + "trace_file_test_fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_THROW(TraceFile file(path), UsageError);
  std::remove(path.c_str());
}

TEST(TraceFileTest, ADirectoryIsNoFile) { EXPECT_THROW(TraceFile{testing::TempDir()}, UsageError); }

}  // namespace
}  // namespace viaduct::engine
