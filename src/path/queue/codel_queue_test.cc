#include "path/queue/codel_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/wire/test/packet_builder.h"
#include "path/queue/test_queues.h"

namespace viaduct::path {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;
namespace p = wire::packet;

// A queue of 1000-byte packets, from which the test takes packets at any time.
struct Codels {
  explicit Codels(bool ecn = false, uint8_t tos = 0) {
    CodelParameters parameters;
    parameters.ecn = ecn;
    queue = std::make_unique<CodelQueue>(parameters, InMemory(Packets(100000), frames));
    frame = frames.Add(p::Build(p::Ethernet{} / p::Ipv4{.tos = tos} / p::Udp{}));
  }
  void Fill(uint64_t count, Instant now = At(0), uint32_t bytes = 1000) {
    while (count-- > 0) queue->Enqueue(MakePacket(++last, bytes, frame), now, drops);
  }
  std::optional<Packet> Take(Instant now) { return queue->Dequeue(now, drops); }
  std::vector<int64_t> DropTimes() const {
    std::vector<int64_t> times;
    for (const auto& dropped : drops.all) times.push_back(dropped.at.nanoseconds());
    return times;
  }
  Frames frames;
  FrameHandle frame;
  Drops drops;
  uint64_t last = 0;
  std::unique_ptr<CodelQueue> queue;
};

// The sojourn time reaches the target at 5 ms and stays above it: the first drop is an interval
// later, the next drops follow after an interval, interval/sqrt(2), interval/sqrt(3)..., exact to
// the nanosecond.
TEST(Codel, DropsAtTheInstantsOfTheControlLaw) {
  Codels codel;
  codel.Fill(1000);
  codel.Take(At(5000000));
  const int64_t expected[] = {105000000, 205000000, 275710678, 333445704, 383445704, 428167063};
  for (const int64_t at : expected) {
    const size_t before = codel.drops.all.size();
    codel.Take(At(at - 1));
    ASSERT_EQ(codel.drops.all.size(), before) << at;
    codel.Take(At(at));
    ASSERT_EQ(codel.drops.all.size(), before + 1) << at;
  }
  EXPECT_THAT(codel.DropTimes(), testing::ElementsAreArray(expected));
  EXPECT_EQ(codel.drops.all[0].cause, Fate::kAqm);
}

TEST(Codel, WhatIsDroppedIsTheOldestAndTheNextIsSent) {
  Codels codel;
  codel.Fill(10);
  EXPECT_EQ(codel.Take(At(5000000))->number, 1u);
  EXPECT_EQ(codel.Take(AtMs(105))->number, 3u);
  EXPECT_THAT(codel.drops.numbers(), ElementsAre(2));
}

// When the discipline is polled late, it performs at once all drops that the control law requires
// until then, each computed from the instant of the control law.
TEST(Codel, CatchesUp) {
  Codels codel;
  codel.Fill(1000);
  codel.Take(At(5000000));
  codel.Take(AtMs(105));
  codel.Take(AtMs(340));  // drops are due at 205, 275.71 and 333.45 ms
  EXPECT_EQ(codel.drops.all.size(), 4u);
  EXPECT_EQ(codel.queue->codel().drop_next(), At(383445704));
  EXPECT_EQ(codel.queue->codel().count(), 4u);
}

TEST(Codel, BelowTheTargetNothingHappens) {
  Codels codel;
  for (int ms = 0; ms < 1000; ms += 4) {
    codel.Fill(5, AtMs(ms));
    for (int i = 0; i < 5; ++i) codel.Take(At(ms * 1000000 + 4999999));
  }
  EXPECT_THAT(codel.drops.all, IsEmpty());
}

// A sojourn time below the target, however short, restarts the interval.
TEST(Codel, OneShortSojournResetsTheInterval) {
  Codels codel;
  codel.Fill(50);
  codel.Take(AtMs(5));
  codel.Take(AtMs(104));
  for (uint64_t left = codel.queue->packets(); left > 0; --left) codel.Take(AtMs(104));
  codel.Fill(50, AtMs(104));
  codel.Take(AtMs(105));  // the sojourn time is 1 ms
  codel.Take(AtMs(110));
  codel.Take(At(209999999));
  EXPECT_THAT(codel.drops.all, IsEmpty());
  codel.Take(AtMs(210));
  EXPECT_THAT(codel.DropTimes(), ElementsAre(210000000));
}

// MAXPACKET: with at most one waiting frame, no frame is dropped.
TEST(Codel, AQueueOfOneFrameNeverDrops) {
  Codels codel;
  for (int ms = 0; ms < 2000; ms += 10) {
    codel.Fill(2, AtMs(ms), 1514);
    codel.Take(AtMs(ms + 8));
    codel.Take(AtMs(ms + 9));
  }
  EXPECT_THAT(codel.drops.all, IsEmpty());
}

// When dropping restarts soon after it ended (RFC 8289 section 5.5), the count does not start from
// 1 but from the drop rate that controlled the queue.
TEST(Codel, TakesUpTheLastRateWhenItEntersAgainSoon) {
  Codels codel;
  codel.Fill(1000);
  codel.Take(At(5000000));
  for (int64_t ms = 105; ms <= 430; ++ms) codel.Take(AtMs(ms));
  const uint32_t count = codel.queue->codel().count();
  EXPECT_EQ(count, 6u);
  while (!codel.queue->Empty()) codel.Take(AtMs(430));
  codel.Fill(1, AtMs(431));
  codel.Take(AtMs(431));
  EXPECT_FALSE(codel.queue->codel().dropping());
  codel.Fill(100, AtMs(440));
  codel.Take(AtMs(445));
  codel.Take(AtMs(545));
  EXPECT_TRUE(codel.queue->codel().dropping());
  const uint32_t again = codel.queue->codel().count();
  EXPECT_GT(again, 1u);
  const auto gap = static_cast<int64_t>(1e8 / std::sqrt(again));
  EXPECT_EQ(codel.queue->codel().drop_next(), AtMs(545) + Duration::Nanoseconds(gap));
}

TEST(Codel, StartsFromOneAfterALongPeace) {
  Codels codel;
  codel.Fill(1000);
  codel.Take(At(5000000));
  for (int64_t ms = 105; ms <= 430; ++ms) codel.Take(AtMs(ms));
  while (!codel.queue->Empty()) codel.Take(AtMs(430));
  codel.Fill(100, AtMs(5000));
  codel.Take(AtMs(5005));
  codel.Take(AtMs(5105));
  EXPECT_EQ(codel.queue->codel().count(), 1u);
  EXPECT_EQ(codel.queue->codel().drop_next(), AtMs(5205));
}

TEST(Codel, MarksInsteadWhereThePacketAllows) {
  Codels codel(true, 2);
  codel.Fill(1000);
  codel.Take(At(5000000));
  std::vector<int64_t> marks;
  for (int64_t us = 100000; us <= 430000; us += 10) {
    const auto packet = codel.Take(At(us * 1000));
    if (!packet) codel.Fill(1000, At(us * 1000 - 10000000));
    if (packet && packet->marked) marks.push_back(us);
    codel.Fill(1, At(us * 1000 - 10000000));
  }
  EXPECT_THAT(codel.drops.all, IsEmpty());
  EXPECT_THAT(marks, ElementsAre(105000, 205000, 275720, 333450, 383450, 428170));
}

TEST(Codel, WithEcnOnDropsWhatIsNotCapable) {
  Codels codel(true, 0);
  codel.Fill(100);
  codel.Take(At(5000000));
  EXPECT_FALSE(codel.Take(AtMs(105))->marked);
  EXPECT_EQ(codel.drops.all.size(), 1u);
}

TEST(Codel, AFullQueueDropsAtTheTail) {
  Frames frames;
  CodelQueue queue({}, InMemory(Packets(2), frames));
  Drops drops;
  for (uint64_t i = 1; i <= 3; ++i) queue.Enqueue(MakePacket(i, 100), At(0), drops);
  EXPECT_THAT(drops.all, ElementsAre(Drops::Dropped{3, Fate::kQueueFull, At(0)}));
}

// A packet that is still on disk does not affect CoDel's state.
TEST(Codel, ADiskThatIsSlowDoesNotResetIt) {
  Frames frames;
  auto fifo = std::make_unique<SlowFifo>();
  SlowFifo& disk = *fifo;
  CodelQueue queue({}, SetupOn(std::move(fifo), Packets(1000), frames));
  Drops drops;
  for (uint64_t i = 1; i <= 50; ++i) queue.Enqueue(MakePacket(i, 1000), At(0), drops);
  disk.arrived = true;
  queue.Dequeue(AtMs(5), drops);
  disk.arrived = false;
  EXPECT_EQ(queue.Dequeue(AtMs(50), drops), std::nullopt);
  EXPECT_TRUE(queue.Stalled());
  disk.arrived = true;
  queue.Dequeue(AtMs(105), drops);
  EXPECT_EQ(drops.all.size(), 1u);
  EXPECT_TRUE(queue.codel().dropping());
}

}  // namespace
}  // namespace viaduct::path
