#include "base/sequence_window.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace viaduct {
namespace {

using Arrival = SequenceWindow::Arrival;

constexpr uint64_t kFar = SequenceWindow::kNumbers;

TEST(SequenceWindowTest, TellsLateFromDuplicate) {
  SequenceWindow window;
  EXPECT_EQ(window.Take(0), Arrival::kNext);
  EXPECT_EQ(window.Take(2), Arrival::kNext);
  EXPECT_EQ(window.Take(1), Arrival::kLate);
  for (const uint64_t again : {0, 1, 2}) EXPECT_EQ(window.Take(again), Arrival::kDuplicate);
  EXPECT_EQ(window.next(), 3u);
}

TEST(SequenceWindowTest, AGapHasNotCome) {
  for (const uint64_t gap : {uint64_t{70'000}, kFar - 1, kFar, 3 * kFar, uint64_t{1} << 60}) {
    SequenceWindow window;
    EXPECT_EQ(window.Take(0), Arrival::kNext);
    EXPECT_EQ(window.Take(gap), Arrival::kNext);
    EXPECT_EQ(window.Take(gap - 1), Arrival::kLate) << gap;
    EXPECT_EQ(window.Take(gap - 1), Arrival::kDuplicate) << gap;
    EXPECT_EQ(window.Take(gap - 66'000), Arrival::kLate) << gap;
  }
}

// Sends duplicates of packets that were sent a second before, at a million packets a second.
TEST(SequenceWindowTest, KnowsDuplicatesOfSecondsAgo) {
  SequenceWindow window;
  constexpr uint64_t kBehind = 1'000'000, kStart = (uint64_t{1} << 32) - 2 * kBehind;
  uint64_t duplicates = 0;
  for (uint64_t i = kStart; i < kStart + 4 * kBehind; ++i) {
    ASSERT_EQ(window.Take(i), Arrival::kNext);
    if (i < kStart + kBehind) continue;
    duplicates += window.Take(i - kBehind) == Arrival::kDuplicate ? 1 : 0;
  }
  EXPECT_EQ(duplicates, 3 * kBehind);
}

TEST(SequenceWindowTest, NumbersOfFewBitsAreCompleted) {
  uint64_t known = 0;
  for (uint64_t number = 0; number < 864'000; ++number) {
    known = NearestTo(known, static_cast<uint16_t>(number));
    ASSERT_EQ(known, number);
  }
  EXPECT_EQ(NearestTo(uint64_t{65'540}, uint16_t{65'530}), 65'530u);
  EXPECT_EQ(NearestTo(uint64_t{3}, uint16_t{65'530}), 65'530u) << "nothing is below zero";
  constexpr uint64_t kWrap = uint64_t{1} << 32;
  EXPECT_EQ(NearestTo(kWrap - 1, uint32_t{5}), kWrap + 5);
  EXPECT_EQ(NearestTo(kWrap + 5, uint32_t{0xFFFF'FFFF}), kWrap - 1);
}

TEST(SequenceWindowTest, CountersOfFewBitsGrowOn) {
  uint64_t total = 0;
  for (const uint32_t low : {3'000'000'000u, 1'000'000'000u, 1'000'000'000u, 999'999'999u}) {
    total = GrownFrom(total, low);
  }
  EXPECT_EQ(total, (uint64_t{2} << 32) + 999'999'999u);
}

}  // namespace
}  // namespace viaduct
