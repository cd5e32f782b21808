#include "plane/forward/outbox.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plane/forward/test_carrier.h"

namespace viaduct::forward {
namespace {

void Fill(wire::Bytes bytes, size_t value) {
  std::ranges::fill(bytes, static_cast<std::byte>(value));
}

bool IsFilled(wire::ConstBytes bytes, size_t value) {
  return std::ranges::all_of(bytes,
                             [&](std::byte byte) { return byte == static_cast<std::byte>(value); });
}

TEST(OutboxTest, MadeFramesLastUntilTheEndOfTheBurst) {
  FakeCarrier carrier;
  Outbox outbox(1, carrier);
  for (int burst = 0; burst < 3; ++burst) {
    std::vector<wire::Bytes> made;
    for (size_t i = 0; i < 200; ++i) {
      // Some frames are longer than the outbox's blocks; all other frames are parts of blocks.
      made.push_back(outbox.Make(i % 50 == 49 ? 70000 : 60 + 14 * i));
      Fill(made.back(), i);
    }
    for (size_t i = 0; i < made.size(); ++i) {
      ASSERT_EQ(made[i].size(), i % 50 == 49 ? 70000 : 60 + 14 * i);
      EXPECT_TRUE(IsFilled(made[i], i)) << i;
      outbox.Send(0, made[i]);
    }
    carrier.frames.clear();
    outbox.EndBurst();
    EXPECT_EQ(carrier.frames[0].size(), made.size());
  }
}

TEST(OutboxTest, TheNextBurstHasTheSameMemory) {
  FakeCarrier carrier;
  Outbox outbox(1, carrier);
  const std::byte* const first = outbox.Make(1500).data();
  outbox.Make(1500);
  outbox.EndBurst();
  EXPECT_EQ(outbox.Make(1500).data(), first);
}

}  // namespace
}  // namespace viaduct::forward
