#include "guest/virtio/virtqueue.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace viaduct::guest {
namespace {

constexpr uint32_t kEntries = 8;
constexpr uint64_t kDescriptors = 0;
constexpr uint64_t kAvailable = 0x1000;
constexpr uint64_t kUsed = 0x2000;
constexpr uint64_t kMemory = 0x4000;

// A fixture with a queue and a simulated driver, which uses the queue's memory.
class VirtqueueTest : public testing::Test {
 protected:
  VirtqueueTest() {
    UniqueFd fd(SystemCall("memfd_create", memfd_create("test", MFD_CLOEXEC)));
    SystemCall("ftruncate", ftruncate(fd.get(), kMemory));
    memory_.Add(fd, 0, kMemory, 0);
    Start();
  }

  // Starts the queue at index `base`, as after a reset of the device.
  void Start(uint16_t base = 0) {
    offered_ = base;
    Word(kAvailable + 2) = base;
    queue_.SetSize(kEntries);
    queue_.SetBase(base);
    queue_.SetAddresses(kDescriptors, kAvailable, kUsed);
    queue_.SetEnabled(true);
  }

  void Offer(std::initializer_list<uint16_t> heads) {
    for (const uint16_t head : heads) Word(kAvailable + 4 + 2 * (offered_++ % kEntries)) = head;
    Word(kAvailable + 2) = offered_;
  }

  void Return(uint16_t head) {
    queue_.Stage(head, 0);
    queue_.Publish();
  }

  std::vector<uint16_t> TakeAllNewest() {
    std::vector<uint16_t> heads;
    while (const auto head = queue_.TakeNewest()) heads.push_back(*head);
    return heads;
  }

  uint16_t& Word(uint64_t address) {
    return *reinterpret_cast<uint16_t*>(memory_.At(address, sizeof(uint16_t)).data());
  }

  using Heads = std::vector<uint16_t>;
  GuestMemory memory_;
  Virtqueue queue_{memory_};
  uint16_t offered_ = 0;
};

TEST_F(VirtqueueTest, TakesInTheOrderOfTheRing) {
  Offer({3, 1, 2});
  EXPECT_EQ(queue_.Take(), 3);
  EXPECT_EQ(queue_.Take(), 1);
  EXPECT_EQ(queue_.Take(), 2);
  EXPECT_EQ(queue_.Take(), std::nullopt);
  EXPECT_EQ(queue_.Taken(), 3);
}

TEST_F(VirtqueueTest, TakesTheNewest) {
  EXPECT_EQ(queue_.TakeNewest(), std::nullopt);
  Offer({0, 1, 2, 3});
  EXPECT_EQ(queue_.TakeNewest(), 3);
  EXPECT_EQ(queue_.TakeNewest(), 2);
  Offer({3});  // used and offered again after chains 0 and 1, which still wait
  EXPECT_EQ(TakeAllNewest(), (Heads{3, 1, 0}));
}

TEST_F(VirtqueueTest, WhatIsPutBackIsTheNewestAgain) {
  Offer({0, 1, 2});
  EXPECT_EQ(queue_.TakeNewest(), 2);
  EXPECT_EQ(queue_.TakeNewest(), 1);
  queue_.PutBack(1);
  queue_.PutBack(2);
  EXPECT_EQ(TakeAllNewest(), (Heads{2, 1, 0}));
}

// Checks that each buffer is used only once at a time, while the queue wraps around the end of the
// ring many times and around the end of the 16-bit index.
TEST_F(VirtqueueTest, NewestOfARingThatWraps) {
  Start(65'500);
  Offer({0, 1, 2, 3, 4, 5, 6, 7});
  for (int i = 0; i < 1000; ++i) {
    const auto first = queue_.TakeNewest();
    const auto second = queue_.TakeNewest();
    ASSERT_EQ(first, i % 2 == 0 ? 7 : 6);
    ASSERT_EQ(second, i % 2 == 0 ? 6 : 7);
    Return(*first);
    Return(*second);
    Offer({*first, *second});
  }
  EXPECT_EQ(TakeAllNewest(), (Heads{7, 6, 5, 4, 3, 2, 1, 0}));
}

TEST_F(VirtqueueTest, NothingOfBeforeAResetIsLeft) {
  Offer({0, 1, 2});
  EXPECT_EQ(queue_.TakeNewest(), 2);
  Start();
  EXPECT_EQ(queue_.TakeNewest(), std::nullopt);
  Offer({4, 5});
  EXPECT_EQ(queue_.TakeNewest(), 5);
  queue_.Unmap();
  EXPECT_EQ(queue_.TakeNewest(), std::nullopt);
  Start();
  Offer({6});
  EXPECT_EQ(TakeAllNewest(), (Heads{6}));
}

TEST_F(VirtqueueTest, RefusesMoreThanItHas) {
  Offer({0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_EQ(queue_.TakeNewest(), 7);
  Offer({7});  // chain 7 has not been returned
  EXPECT_THROW(queue_.TakeNewest(), Error);
  Start();
  Offer({8});
  EXPECT_THROW(queue_.TakeNewest(), Error);
}

}  // namespace
}  // namespace viaduct::guest
