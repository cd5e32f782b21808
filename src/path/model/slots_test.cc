#include "path/model/slots.h"

#include <gtest/gtest.h>

#include <vector>

#include "path/queue/test_queues.h"
#include "path/test_statistics.h"

namespace viaduct::path {
namespace {

using test::At;
using test::AtMs;

Slots MakeSlots(std::string_view value) {
  const SlotSpec spec = ParseSlot(value);
  spec.Check();
  return Slots(spec, {});
}

// Returns the times in milliseconds at which packets of 1000 bytes leave that are ready at the
// times `ready`.
std::vector<int64_t> LeaveMs(std::string_view value, const std::vector<int64_t>& ready) {
  SlotStage stage(RandomStream(1, "slot"));
  stage.Set(MakeSlots(value));
  for (const int64_t at : ready) {
    Packet packet = test::MakePacket(1, 1000);
    packet.ready = AtMs(at);
    stage.Push(packet);
  }
  std::vector<int64_t> left;
  while (stage.packets() > 0) left.push_back(stage.PopFirst().ready.nanoseconds() / 1000000);
  EXPECT_EQ(stage.bytes(), 0U);
  EXPECT_EQ(stage.Next(), Instant::Never());
  return left;
}

using Ms = std::vector<int64_t>;

TEST(SlotsTest, WhatAccumulatesLeavesTogether) {
  EXPECT_EQ(LeaveMs("10ms", {0, 3, 10, 11, 40}), (Ms{10, 10, 10, 21, 50}));
}

// A full slot opens the next one at its own instant, regardless of the arrival of the next packet.
TEST(SlotsTest, AFullSlotOpensTheNext) {
  EXPECT_EQ(LeaveMs("10ms:packets=2", {0, 1, 2, 3, 4, 29, 31}), (Ms{10, 10, 20, 20, 30, 30, 40}));
  EXPECT_EQ(LeaveMs("10ms:packets=1", {0, 15, 50}), (Ms{10, 20, 60}));
}

// A packet that exceeds the byte limit of a slot still leaves in this slot, as in netem.
TEST(SlotsTest, BytesAreCountedAfterThePacket) {
  EXPECT_EQ(LeaveMs("10ms:bytes=1500B", {0, 1, 2, 3}), (Ms{10, 10, 20, 20}));
  EXPECT_EQ(LeaveMs("10ms:bytes=1kB", {0, 1, 2}), (Ms{10, 20, 30}));
  EXPECT_EQ(LeaveMs("10ms:bytes=1MB,packets=2", {0, 1, 2}), (Ms{10, 10, 20}));
}

TEST(SlotsTest, PacketsOfNewSlotsStayBehindThoseOfOldOnes) {
  SlotStage stage(RandomStream(1, "slot"));
  const auto push = [&](int64_t at) {
    Packet packet = test::MakePacket(1, 100);
    packet.ready = AtMs(at);
    stage.Push(packet);
  };
  stage.Set(MakeSlots("50ms"));
  push(0);
  stage.Set(MakeSlots("5ms"));
  push(10);
  push(60);
  for (const int64_t left : {50, 50, 65}) EXPECT_EQ(stage.PopFirst().ready, AtMs(left));
}

// Returns the times in milliseconds from the arrival of a packet, just after each slot, until the
// packet leaves.
std::vector<double> Intervals(std::string_view value, size_t count) {
  Slots slots = MakeSlots(value);
  RandomStream random(5, "slot");
  std::vector<double> intervals;
  Packet packet = test::MakePacket(1, 100);
  for (size_t i = 0; i < count; ++i) {
    packet.ready += Duration::Seconds(1);
    intervals.push_back(
        static_cast<double>((slots.Leave(packet, random) - packet.ready).nanoseconds()) / 1e6);
  }
  return intervals;
}

TEST(SlotsTest, IntervalsHaveTheirDistribution) {
  const size_t n = 200000;
  EXPECT_LT(test::KsDistance(Intervals("5ms:max=8ms", n),
                             [](double x) { return std::clamp((x - 5) / 3, 0.0, 1.0); }),
            test::KsBound(n));
  EXPECT_LT(test::KsDistance(Intervals("20ms:jitter=2ms,dist=normal", n),
                             [](double x) { return NormalProbability((x - 20) / 2); }),
            test::KsBound(n));
}

}  // namespace
}  // namespace viaduct::path
