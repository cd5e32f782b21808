#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/random.h"
#include "path/engine/spill_fifo.h"

namespace viaduct::engine {
namespace {

using testing::HasSubstr;

constexpr int64_t kLimit = 1 << 20;

std::string Directory() { return testing::TempDir(); }

// On a machine without io_uring only the error can be tested.
class SpillTest : public testing::Test {
 protected:
  void Open(size_t directories = 1, size_t block_bytes = 16 << 10, size_t blocks = 8) {
    try {
      disks_.emplace(std::vector<std::string>(directories, Directory()), block_bytes, blocks,
                     budget_);
    } catch (const EnvironmentError& error) {
      GTEST_SKIP() << error.what();
    }
    fifo_.emplace(pool_, *disks_, kLimit);
  }

  // Pushes a packet whose bytes and length depend on its number.
  bool Push(uint64_t number) {
    std::vector<std::byte> bytes(60 + number * 7 % 1400);
    std::memcpy(bytes.data(), &number, sizeof(number));
    std::memcpy(&bytes[bytes.size() - sizeof(number)], &number, sizeof(number));
    const auto frame = pool_.Add(bytes, wire::LinkTag::Vlan(static_cast<uint16_t>(number % 4096)));
    if (!frame) return false;
    path::Packet packet;
    packet.frame = *frame;
    packet.bytes = static_cast<uint32_t>(bytes.size());
    packet.number = number;
    if (fifo_->Push(packet)) return true;
    pool_.Free(*frame);
    return false;
  }

  // Waits until the oldest packet has been read from disk, pops it and returns its number.
  uint64_t PopNumber() {
    while (fifo_->Front() == nullptr) disks_->Poll();
    const path::Packet packet = *fifo_->Front();
    fifo_->PopFront();
    const auto bytes = pool_.Bytes(packet.frame);
    uint64_t first = 0, last = 0;
    std::memcpy(&first, bytes.data(), sizeof(first));
    std::memcpy(&last, &bytes[bytes.size() - sizeof(last)], sizeof(last));
    EXPECT_EQ(bytes.size(), 60 + packet.number * 7 % 1400);
    EXPECT_EQ(first, packet.number);
    EXPECT_EQ(last, packet.number);
    EXPECT_EQ(pool_.Tag(packet.frame).Id(), packet.number % 4096);
    pool_.Free(packet.frame);
    return packet.number;
  }

  MemoryBudget budget_{kLimit};
  FramePool pool_{budget_, kLimit, 1518};
  std::optional<SpillDisks> disks_;
  std::optional<SpillFifo> fifo_;
};

TEST_F(SpillTest, TwentyTimesTheMemoryComesBackInOrderByteForByte) {
  Open();
  if (IsSkipped()) return;
  constexpr uint64_t kPackets = 30000;  // 22 MB
  for (uint64_t i = 0; i < kPackets; ++i) {
    while (!Push(i)) disks_->Poll();  // the test pushes faster than a disk writes
    disks_->Poll();
  }
  EXPECT_EQ(fifo_->packets(), kPackets);
  EXPECT_LE(pool_.UsedBytes(), kLimit);
  EXPECT_GT(disks_->spilled_peak(), 10 * kLimit);
  for (uint64_t i = 0; i < kPackets; ++i) ASSERT_EQ(PopNumber(), i);
  EXPECT_TRUE(fifo_->Empty());
  EXPECT_EQ(fifo_->bytes(), 0u);
  EXPECT_EQ(pool_.UsedBytes(), 0);
  // The disk may still be writing a block whose packets were read from memory.
  const Instant timeout = MonotonicClock::Now() + Duration::Seconds(20);
  while (disks_->spilled_bytes() > 0 && MonotonicClock::Now() < timeout) disks_->Poll();
  EXPECT_EQ(disks_->spilled_bytes(), 0);
}

TEST_F(SpillTest, OrderHoldsHoweverPushesAndPopsMix) {
  for (const size_t directories : {1u, 2u, 3u}) {
    fifo_.reset();
    disks_.reset();
    Open(directories);
    if (IsSkipped()) return;
    RandomStream random(directories, "spill");
    uint64_t in = 0, out = 0;
    while (out < 20000) {
      const bool filling = (in / 3000) % 2 == 0;
      if (in < 20000 && random.Chance(filling ? 0.9 : 0.3)) {
        if (Push(in)) ++in;
      } else if (out < in) {
        ASSERT_EQ(PopNumber(), out++);
      }
      disks_->Poll();
      ASSERT_EQ(fifo_->packets(), in - out);
    }
    EXPECT_EQ(pool_.UsedBytes(), 0);
  }
}

TEST_F(SpillTest, AFullDiskHoldsBackRefusesAndRecovers) {
  Open();
  if (IsSkipped()) return;
  // A limit on the size of the process's files simulates a full disk.
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small = {256 << 10, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  uint64_t in = 0;
  bool refused = false;
  while (disks_->trouble().empty() || !refused) {
    refused = !Push(in);
    if (!refused) ++in;
    ASSERT_LT(in, 5000u) << "3.6 MB in 1 MiB of memory and 256 KiB of disk";
    disks_->Poll();
  }
  EXPECT_TRUE(fifo_->DiskBehind());
  EXPECT_THAT(disks_->trouble(), HasSubstr(Directory()));
  for (uint64_t i = 0; i < in; ++i) ASSERT_EQ(PopNumber(), i);
  EXPECT_TRUE(Push(in)) << "there is room again";
  EXPECT_EQ(PopNumber(), in);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
}

TEST_F(SpillTest, NothingIsLeftBehindAndAQueueMayEndFull) {
  const auto files = [] {
    size_t count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(Directory())) {
      count += entry.path().filename().string().starts_with("viaduct-spill");
    }
    return count;
  };
  Open();
  if (IsSkipped()) return;
  for (uint64_t i = 0; i < 3000; ++i) {
    Push(i);
    disks_->Poll();
  }
  EXPECT_EQ(files(), 0u) << "the file has no name while it is open";
  fifo_.reset();
  EXPECT_EQ(pool_.UsedBytes(), 0);
  const int64_t left = budget_.left();
  disks_.reset();
  EXPECT_EQ(budget_.left(), left + 8 * (16 << 10));
}

TEST(SpillDisksTest, SaysWhatIsWrong) {
  MemoryBudget budget(kLimit);
  EXPECT_THROW(SpillDisks({"/nonexistent"}, 16 << 10, 8, budget), SystemError);
  EXPECT_THROW(SpillDisks::SizesFor(1000, 1), UsageError);
  EXPECT_EQ(SpillDisks::SizesFor(16 << 20, 2).block_bytes, size_t{1} << 20);
  EXPECT_EQ(SpillDisks::SizesFor(16 << 20, 1000).block_bytes, size_t{16} << 10);
}

}  // namespace
}  // namespace viaduct::engine
