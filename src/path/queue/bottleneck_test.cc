#include "path/queue/bottleneck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "path/queue/fifo_queue.h"
#include "path/queue/test_queues.h"

namespace viaduct::path {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::IsEmpty;

std::unique_ptr<QueueDiscipline> TailDrop(QueueSize limit) {
  return std::make_unique<FifoQueue>(InMemory(limit));
}

// Returns a link of 8 Mbit/s, on which 1000 bytes take 1 ms.
std::unique_ptr<RateServer> Link() { return std::make_unique<ConstantRate>(8000000); }

struct Left {
  uint64_t number;
  int64_t at;
  friend bool operator==(const Left&, const Left&) = default;
};
std::ostream& operator<<(std::ostream& out, const Left& left) {
  return out << left.number << " at " << left.at;
}

std::vector<Left> PopAll(Bottleneck& bottleneck, Instant now, Drops& drops) {
  std::vector<Left> all;
  while (const auto packet = bottleneck.Pop(now, drops)) {
    all.push_back({packet->number, packet->ready.nanoseconds()});
  }
  return all;
}

TEST(Bottleneck, SendsOneAfterTheOther) {
  Bottleneck path(TailDrop(Packets(10)), Link());
  Drops drops;
  EXPECT_EQ(path.NextEvent(), Instant::Never());
  for (uint64_t i = 1; i <= 3; ++i) path.Push(MakePacket(i, 1000), AtMs(5), drops);
  EXPECT_EQ(path.packets(), 3u);
  EXPECT_EQ(path.bytes(), 3000u);
  EXPECT_EQ(path.NextEvent(), AtMs(6));
  EXPECT_THAT(PopAll(path, At(5999999), drops), IsEmpty());
  EXPECT_THAT(PopAll(path, AtMs(6), drops), ElementsAre(Left{1, 6000000}));
  EXPECT_THAT(PopAll(path, AtMs(9), drops), ElementsAre(Left{2, 7000000}, Left{3, 8000000}));
  EXPECT_EQ(path.NextEvent(), Instant::Never());
  EXPECT_EQ(path.packets(), 0u);
}

TEST(Bottleneck, LateCallersChangeNothing) {
  for (const int64_t lateness : {0, 700000, 50000000}) {
    Bottleneck path(TailDrop(Packets(10)), Link());
    Drops drops;
    std::vector<Left> all;
    for (uint64_t i = 1; i <= 6; ++i) {
      const Instant arrival = AtMs(i <= 3 ? 1 : 10);
      for (const Left& left : PopAll(path, arrival, drops)) all.push_back(left);
      path.Push(MakePacket(i, 1000), arrival, drops);
    }
    for (int64_t now = 10000000; now < 200000000; now += lateness + 1000000) {
      for (const Left& left : PopAll(path, At(now), drops)) all.push_back(left);
    }
    EXPECT_THAT(all, ElementsAre(Left{1, 2000000}, Left{2, 3000000}, Left{3, 4000000},
                                 Left{4, 11000000}, Left{5, 12000000}, Left{6, 13000000}))
        << lateness;
  }
}

TEST(Bottleneck, WhatIsSentIsNotInTheQueue) {
  Bottleneck path(TailDrop(Packets(2)), Link());
  Drops drops;
  for (uint64_t i = 1; i <= 4; ++i) path.Push(MakePacket(i, 1000), AtMs(0), drops);
  EXPECT_THAT(drops.all, ElementsAre(Drops::Dropped{4, Fate::kQueueFull, AtMs(0)}));
  EXPECT_THAT(PopAll(path, AtMs(1), drops), ElementsAre(Left{1, 1000000}));
  // At one instant, a departure makes space for an arrival.
  path.Push(MakePacket(5, 1000), AtMs(1), drops);
  EXPECT_EQ(drops.all.size(), 1u);
}

TEST(Bottleneck, HeadDropKeepsTheNewest) {
  Bottleneck path(std::make_unique<HeadDropQueue>(InMemory(Packets(2))), Link());
  Drops drops;
  for (uint64_t i = 1; i <= 5; ++i) path.Push(MakePacket(i, 1000), AtMs(0), drops);
  EXPECT_THAT(drops.numbers(), ElementsAre(2, 3));
  EXPECT_THAT(PopAll(path, AtMs(9), drops),
              ElementsAre(Left{1, 1000000}, Left{4, 2000000}, Left{5, 3000000}));
}

TEST(Bottleneck, LimitsInBytesAndTime) {
  for (const QueueSize limit :
       {QueueBytes(2500), QueueSize{.unit = QueueSize::Unit::kTime, .amount = 2500000}}) {
    Bottleneck path(TailDrop(limit), Link());
    Drops drops;
    path.Push(MakePacket(1, 1000), AtMs(0), drops);
    for (uint64_t i = 2; i <= 4; ++i) path.Push(MakePacket(i, 1000), AtMs(0), drops);
    path.Push(MakePacket(5, 500), AtMs(0), drops);
    path.Push(MakePacket(6, 1), AtMs(0), drops);
    EXPECT_THAT(drops.numbers(), ElementsAre(4, 6));
  }
}

TEST(Bottleneck, ALimitInTimeFollowsTheRate) {
  Bottleneck path(TailDrop({.unit = QueueSize::Unit::kTime, .amount = 2000000}), Link());
  Drops drops;
  for (uint64_t i = 1; i <= 4; ++i) path.Push(MakePacket(i, 1000), AtMs(0), drops);
  EXPECT_THAT(drops.numbers(), ElementsAre(4));
  path.ChangeLink(std::make_unique<ConstantRate>(16000000), AtMs(0));
  for (uint64_t i = 5; i <= 7; ++i) path.Push(MakePacket(i, 1000), AtMs(0), drops);
  EXPECT_THAT(drops.numbers(), ElementsAre(4, 7));
}

TEST(Bottleneck, AFrameAboveTheLimitPassesAnIdleLink) {
  Bottleneck path(TailDrop(QueueBytes(100)), Link());
  Drops drops;
  path.Push(MakePacket(1, 1000), AtMs(0), drops);
  EXPECT_THAT(PopAll(path, AtMs(1), drops), ElementsAre(Left{1, 1000000}));
}

TEST(Bottleneck, ARateChangeSparesWhatIsBeingSent) {
  Bottleneck path(TailDrop(Packets(10)), Link());
  Drops drops;
  for (uint64_t i = 1; i <= 3; ++i) path.Push(MakePacket(i, 1000), AtMs(0), drops);
  path.ChangeLink(std::make_unique<ConstantRate>(4000000), At(300000));
  EXPECT_THAT(PopAll(path, AtMs(9), drops),
              ElementsAre(Left{1, 1000000}, Left{2, 3000000}, Left{3, 5000000}));
}

TEST(Bottleneck, AnotherDisciplineTakesWhatArrivesFromThenOn) {
  Bottleneck path(TailDrop(Packets(10)), Link());
  Drops drops;
  for (uint64_t i = 1; i <= 4; ++i) path.Push(MakePacket(i, 1000), AtMs(0), drops);
  path.ChangeQueue(std::make_unique<HeadDropQueue>(InMemory(Packets(1))), AtMs(0));
  path.Push(MakePacket(5, 1000), AtMs(0), drops);
  path.Push(MakePacket(6, 1000), AtMs(0), drops);
  EXPECT_THAT(drops.numbers(), ElementsAre(5));
  EXPECT_EQ(path.packets(), 5u);
  EXPECT_THAT(PopAll(path, AtMs(9), drops),
              ElementsAre(Left{1, 1000000}, Left{2, 2000000}, Left{3, 3000000}, Left{4, 4000000},
                          Left{6, 5000000}));
}

TEST(Bottleneck, WaitsForTheDiskAndThenSendsAsIfItHadNot) {
  auto fifo = std::make_unique<SlowFifo>();
  SlowFifo& disk = *fifo;
  Frames frames;
  Bottleneck path(std::make_unique<FifoQueue>(SetupOn(std::move(fifo), Packets(10), frames)),
                  Link());
  Drops drops;
  path.Push(MakePacket(1, 1000), AtMs(0), drops);
  EXPECT_TRUE(path.Stalled());
  EXPECT_EQ(path.NextEvent(), Instant::Never());
  EXPECT_THAT(PopAll(path, AtMs(5), drops), IsEmpty());
  disk.arrived = true;
  EXPECT_FALSE(path.Stalled());
  EXPECT_EQ(path.NextEvent(), AtMs(0));
  EXPECT_THAT(PopAll(path, AtMs(6), drops), ElementsAre(Left{1, 1000000}));
}

TEST(Bottleneck, SaysWhatHadNoRoom) {
  class FullFifo : public MemoryFifo {
   public:
    explicit FullFifo(bool disk) : disk_(disk) {}
    bool Push(const Packet&) override { return false; }
    bool DiskBehind() const override { return disk_; }

   private:
    bool disk_;
  };
  for (const bool disk : {false, true}) {
    Frames frames;
    Bottleneck path(
        std::make_unique<FifoQueue>(SetupOn(std::make_unique<FullFifo>(disk), Packets(10), frames)),
        Link());
    Drops drops;
    path.Push(MakePacket(1, 1000), AtMs(3), drops);
    const Fate cause = disk ? Fate::kDiskBehind : Fate::kNoMemory;
    EXPECT_THAT(drops.all, ElementsAre(Drops::Dropped{1, cause, AtMs(3)}));
    EXPECT_EQ(path.NextEvent(), Instant::Never());
  }
}

// Over many seeds, each packet leaves or is dropped, exactly once; packets leave in order, and
// never faster than the rate.
TEST(BottleneckProperty, NothingIsLostUncountedAndOrderIsKept) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    RandomStream random(seed, "bottleneck");
    const QueueSize limit = random.Chance(0.5)
                                ? Packets(1 + static_cast<int64_t>(random.Below(20)))
                                : QueueBytes(1 + static_cast<int64_t>(random.Below(9000)));
    auto make = [&]() -> std::unique_ptr<QueueDiscipline> {
      if (random.Chance(0.5)) return std::make_unique<HeadDropQueue>(InMemory(limit));
      return TailDrop(limit);
    };
    Bottleneck path(make(), Link());
    Drops drops;
    std::vector<Left> left;
    Instant now = At(0);
    const uint64_t count = 500;
    for (uint64_t i = 1; i <= count; ++i) {
      now += Duration::Nanoseconds(static_cast<int64_t>(random.Below(1500000)));
      for (const Left& one : PopAll(path, now, drops)) left.push_back(one);
      if (random.Chance(0.01)) path.ChangeQueue(make(), now);
      if (random.Chance(0.01)) {
        path.ChangeLink(std::make_unique<ConstantRate>(1000000 + random.Below(20000000)), now);
      }
      path.Push(MakePacket(i, 60 + static_cast<uint32_t>(random.Below(1400))), now, drops);
      ASSERT_EQ(i, left.size() + drops.all.size() + path.packets());
    }
    for (const Left& one : PopAll(path, At(INT64_MAX - 1), drops)) left.push_back(one);
    EXPECT_EQ(left.size() + drops.all.size(), count);
    EXPECT_EQ(path.packets(), 0u);
    EXPECT_EQ(path.bytes(), 0u);
    for (size_t i = 1; i < left.size(); ++i) {
      ASSERT_LT(left[i - 1].number, left[i].number);
      ASSERT_LT(left[i - 1].at, left[i].at);
    }
  }
}

}  // namespace
}  // namespace viaduct::path
