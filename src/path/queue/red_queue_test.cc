#include "path/queue/red_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/wire/test/packet_builder.h"
#include "path/queue/test_queues.h"

namespace viaduct::path {
namespace {

using namespace test;
namespace p = wire::packet;

struct Red {
  explicit Red(RedParameters parameters, uint8_t tos = 0, QueueSize limit = Packets(100000))
      : queue(parameters, InMemory(limit, frames, {1, "red"})) {
    frame = frames.Add(p::Build(p::Ethernet{} / p::Ipv4{.tos = tos} / p::Udp{}));
  }
  // Enqueues a packet; returns whether the packet is kept.
  bool Put(Instant now, uint32_t bytes = 1000) {
    const size_t before = drops.all.size();
    queue.Enqueue(MakePacket(++last, bytes, frame), now, drops);
    return drops.all.size() == before;
  }
  // Adds packets until `length` packets wait.
  void Fill(uint64_t length) {
    while (queue.packets() < length) Put(At(0));
  }
  Frames frames;
  FrameHandle frame;
  Drops drops;
  uint64_t last = 0;
  RedQueue queue;
};

// Returns parameters with w_q = 1, so that the average is the queue length, which a test can set.
RedParameters Direct(int64_t min, int64_t max, double probability) {
  RedParameters parameters;
  parameters.min = Packets(min);
  parameters.max = Packets(max);
  parameters.max_probability = probability;
  parameters.weight = 1;
  return parameters;
}

TEST(Red, TheAverageIsExponential) {
  RedParameters parameters = Direct(100000, 300000, 0.1);
  parameters.weight = 0.002;
  Red red(parameters);
  double expected = 0;
  for (int i = 0; i < 1000; ++i) {
    expected += i == 0 ? 0 : 0.002 * (static_cast<double>(red.queue.packets()) - expected);
    red.Put(At(0));
    ASSERT_DOUBLE_EQ(red.queue.average(), expected);
    if (i % 3 == 0) red.queue.Dequeue(At(0), red.drops);
  }
}

// The average falls by the factor (1-w_q)^m for m = idle time / transmission time of a small packet
// (500 bytes: 4 ms at 1 Mbit/s).
TEST(Red, TheAverageFallsWhileIdle) {
  RedParameters parameters = Direct(50, 150, 0.1);
  parameters.weight = 0.5;
  Red red(parameters);
  red.queue.SetRate(1000000);
  red.Fill(10);
  red.Put(At(0));
  const double before = red.queue.average();
  ASSERT_GT(before, 5);
  while (red.queue.Dequeue(AtMs(100), red.drops)) {
  }
  red.Put(At(100000000 + 13999999));
  EXPECT_DOUBLE_EQ(red.queue.average(), before * std::pow(0.5, 3));
}

// Packets arrive at twice the rate at which small packets are sent, while the average is too high:
// each packet arrives at an empty queue and lowers the average, so that packets pass again.
TEST(Red, PacketsThatFindTheQueueEmptyLowerTheAverage) {
  RedParameters parameters = Direct(5, 15, 0.1);
  parameters.weight = 0.01;
  Red red(parameters);
  red.queue.SetRate(1000000);
  while (red.queue.average() < 16) red.Put(At(0));
  while (red.queue.Dequeue(AtMs(100), red.drops)) {
  }
  int dropped = 0;
  while (!red.Put(AtMs(102 + 2 * dropped))) ASSERT_LT(++dropped, 10);
  EXPECT_GE(dropped, 6);  // packets until the average is below 15: log(15 / 16) / log(0.99)
}

TEST(Red, BelowMinimumAndAboveMaximum) {
  Red red(Direct(5, 15, 0.1));
  red.Fill(5);
  EXPECT_TRUE(red.drops.all.empty());
  Red full(Direct(5, 15, 1e-9));
  full.Fill(15);
  EXPECT_TRUE(full.drops.all.empty());
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(full.Put(At(0)));
  EXPECT_EQ(full.drops.all[0].cause, Fate::kAqm);
}

// With the average held at the middle of min and max, p_b is half of max_p = 0.2: gaps are uniform
// on 1 ... 10, and never longer. Chi-square with 9 degrees of freedom is below 27.9 with 99.9%
// confidence.
TEST(Red, GapsBetweenDropsAreUniform) {
  Red red(Direct(10, 30, 0.2));
  red.Fill(10);
  while (red.queue.packets() < 20) red.Put(At(0));
  std::vector<int> gaps(20);
  int gap = 0;
  for (int i = 0; i < 100000; ++i) {
    ++gap;
    if (red.Put(At(0))) {
      red.queue.Dequeue(At(0), red.drops);
      continue;
    }
    ASSERT_LT(gap, 20);
    ++gaps[static_cast<size_t>(gap)];
    gap = 0;
  }
  double count = 0, chi_square = 0;
  for (int i = 1; i <= 10; ++i) count += gaps[static_cast<size_t>(i)];
  for (int i = 11; i < 20; ++i) EXPECT_EQ(gaps[static_cast<size_t>(i)], 0);
  for (int i = 1; i <= 10; ++i) {
    chi_square += std::pow(gaps[static_cast<size_t>(i)] - count / 10, 2) / (count / 10);
  }
  EXPECT_NEAR(count, 100000 / 5.5, 300);
  EXPECT_LT(chi_square, 27.9);
}

// Returns the measured share of dropped packets. With gaps uniform on 1 ... 1/p_b, 2 p_b / (1 +
// p_b) of the arrivals are dropped.
double DropShare(Red& red, uint64_t length, uint32_t bytes = 1000) {
  while (red.queue.packets() < length) red.Put(At(0), bytes);
  const size_t before = red.drops.all.size();
  for (int i = 0; i < 50000; ++i) {
    if (red.Put(At(0), bytes)) red.queue.Dequeue(At(0), red.drops);
  }
  return static_cast<double>(red.drops.all.size() - before) / 50000;
}

TEST(Red, ByteModeDropsLargePacketsMore) {
  RedParameters parameters = Direct(0, 0, 0.2);
  parameters.min = QueueBytes(10000);
  parameters.max = QueueBytes(30000);
  // With 20 packets of 1000 bytes, p_b = 0.1 x 1000/1514; with 40 packets of 500 bytes, p_b is half
  // as large.
  Red large(parameters), small(parameters);
  const double share_large = DropShare(large, 20, 1000), share_small = DropShare(small, 40, 500);
  EXPECT_NEAR(share_large, 0.1239, 0.003);
  EXPECT_NEAR(share_small, 0.0639, 0.003);
}

TEST(Red, GentleGrowsToOneAtTwiceTheMaximum) {
  RedParameters parameters = Direct(5, 15, 0.1);
  parameters.gentle = true;
  Red red(parameters);
  // An average of 18 is a fifth of the range from max to twice max: p_b = 0.1 + 0.9 / 5 = 0.28;
  // gaps of 1, 2 and 3 have this probability each, gaps of 4 the remaining probability; the mean is
  // 2.32.
  EXPECT_NEAR(DropShare(red, 18), 1 / 2.32, 0.01);
  red.drops.all.clear();
  while (red.queue.packets() < 30) red.Put(At(0));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(red.Put(At(0)));
}

TEST(Red, MarksBetweenTheThresholdsAndDropsAbove) {
  RedParameters parameters = Direct(5, 15, 0.5);
  parameters.ecn = true;
  Red red(parameters, 2);
  red.Fill(14);
  int marked = 0;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_TRUE(red.Put(At(0)));
    if (red.queue.Dequeue(At(0), red.drops)->marked) ++marked;
  }
  EXPECT_GT(marked, 200);
  red.Fill(15);
  EXPECT_FALSE(red.Put(At(0)));  // dropped above the threshold, RFC 3168 section 7
}

TEST(Red, OneThresholdSaysWhatTheOtherIs) {
  RedParameters parameters;
  EXPECT_EQ(Red(parameters).queue.min(), 5);
  EXPECT_EQ(Red(parameters).queue.max(), 15);
  parameters.max = QueueBytes(90000);
  EXPECT_EQ(Red(parameters).queue.min(), 30000);
  parameters = {};
  parameters.min = Packets(10);
  EXPECT_EQ(Red(parameters).queue.max(), 30);
}

}  // namespace
}  // namespace viaduct::path
