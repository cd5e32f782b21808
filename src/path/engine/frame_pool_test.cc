#include "path/engine/frame_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/wire/test/packet_builder.h"

namespace viaduct::engine {
namespace {

using namespace wire::packet;
using testing::HasSubstr;

std::vector<std::byte> Frame(char letter, size_t bytes) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(letter));
}

TEST(FramePoolTest, KeepsEveryFramesBytesUpToTheLimitAndNoFurther) {
  constexpr int64_t kLimit = 1 << 20;
  MemoryBudget budget(kLimit);
  FramePool pool(budget, kLimit, 1518);
  std::vector<path::FrameHandle> frames;
  while (const auto frame = pool.Add(Frame(static_cast<char>(frames.size()), 1518), {})) {
    frames.push_back(*frame);
  }
  EXPECT_EQ(frames.size(), static_cast<size_t>(kLimit / pool.SlotCost()));
  EXPECT_LE(pool.UsedBytes(), kLimit);
  EXPECT_GT(pool.UsedBytes(), kLimit - pool.SlotCost());
  for (size_t i = 0; i < frames.size(); ++i) {
    const auto bytes = pool.Bytes(frames[i]);
    ASSERT_EQ(bytes.size(), 1518u);
    ASSERT_EQ(bytes.front(), static_cast<std::byte>(i));
    ASSERT_EQ(bytes.back(), static_cast<std::byte>(i));
  }
  pool.Free(frames[7]);
  EXPECT_TRUE(pool.Clone(frames[8]));
  EXPECT_FALSE(pool.Clone(frames[8]));
}

TEST(FramePoolTest, PoolsShareOneLimitAndGiveItBack) {
  constexpr int64_t kLimit = 1 << 20;
  MemoryBudget budget(kLimit);
  FramePool first(budget, kLimit, 1518);
  int64_t both = 0;
  {
    FramePool second(budget, kLimit, 1518);
    bool more = true;
    while (more) {
      more = first.Add(Frame('a', 60), {}).has_value();
      more |= second.Add(Frame('b', 60), {}).has_value();
    }
    both = first.UsedBytes() + second.UsedBytes();
    EXPECT_LE(both, kLimit);
    EXPECT_GT(both, kLimit - 2 * first.SlotCost());
    EXPECT_LT(first.UsedBytes(), kLimit * 3 / 4);
  }
  EXPECT_TRUE(first.Add(Frame('a', 60), {})) << "what the second had is free again";
}

TEST(FramePoolTest, ALimitTooSmallForOneFrameIsRefused) {
  MemoryBudget budget(1000);
  try {
    FramePool pool(budget, 1000, 1518);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("memory limit 1kB: too small for one frame of 1518"));
  }
  MemoryBudget enough(2000);
  FramePool pool(enough, 2000, 1518);
  EXPECT_TRUE(pool.Add(Frame('a', 1518), {}));
}

TEST(FramePoolTest, PutsTheTagOnOnceHoweverOftenAFrameIsOffered) {
  MemoryBudget budget(1 << 20);
  FramePool pool(budget, 1 << 20, 1518);
  const auto plain = Build(Ethernet{} / Ipv4{} / Udp{1024, 53} / Payload{"data"});
  const auto tagged = Build(Ethernet{} / Vlan{.id = 20} / Ipv4{} / Udp{1024, 53} / Payload{"data"});
  const auto frame = pool.Add(plain, wire::LinkTag::Vlan(20));
  ASSERT_TRUE(frame);
  const auto copy = pool.Clone(*frame);
  ASSERT_TRUE(copy);
  for (const path::FrameHandle handle : {*frame, *frame, *copy}) {
    EXPECT_EQ(Describe(pool.Tagged(handle)), Describe(tagged));
  }
}

}  // namespace
}  // namespace viaduct::engine
