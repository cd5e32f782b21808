#include "path/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "path/test_pipeline.h"
#include "path/test_statistics.h"

namespace viaduct::path {
namespace {

using test::At;
using test::AtMs;
using test::Bench;
using test::Outcome;
using test::Polling;
using test::Steady;

std::vector<uint64_t> Numbers(const Outcome& outcome) {
  std::vector<uint64_t> numbers;
  for (const Departure& departure : outcome.departures) numbers.push_back(departure.number);
  return numbers;
}

TEST(PipelineTest, APlainWireDeliversAtOnce) {
  Bench bench("");
  EXPECT_EQ(bench.pipeline().NextEvent(), Instant::Never());
  bench.Push(60, At(5));
  EXPECT_EQ(bench.pipeline().NextEvent(), At(5));
  bench.Pop(At(5));
  const Outcome outcome = bench.Take();
  ASSERT_EQ(outcome.departures.size(), 1U);
  EXPECT_EQ(outcome.departures[0].due, At(5));
  EXPECT_EQ(outcome.departures[0].bytes, 60U);
  EXPECT_EQ(outcome.frames[0], std::vector<std::byte>(60, std::byte{1}));
}

TEST(PipelineTest, AConstantDelayIsExact) {
  const Outcome outcome = Bench("delay=10ms").Run(Steady(1000, Duration::Nanoseconds(1234)));
  ASSERT_EQ(outcome.departures.size(), 1000U);
  for (int i = 1; i <= 1000; ++i) {
    const Departure& departure = outcome.departures[static_cast<size_t>(i - 1)];
    EXPECT_EQ(departure.number, static_cast<uint64_t>(i));
    EXPECT_EQ(departure.due, AtMs(10) + Duration::Nanoseconds(1234) * i);
  }
}

TEST(PipelineTest, NothingIsDueBeforeItsInstant) {
  Bench bench("delay=10ms");
  bench.Push(60, At(0));
  bench.Pop(AtMs(10) - Duration::Nanoseconds(1));
  EXPECT_EQ(bench.pipeline().waiting(), 1U);
  EXPECT_EQ(bench.pipeline().waiting_bytes(), 60U);
  bench.Pop(AtMs(10));
  EXPECT_EQ(bench.pipeline().waiting(), 0U);
}

TEST(PipelineTest, RateComesBeforeDelay) {
  // A packet of 1000 bytes takes 1 ms at 8 Mbit/s.
  const Outcome outcome =
      Bench("rate=8Mbit delay=10ms").Run(Steady(3, Duration::Nanoseconds(1), 1000));
  ASSERT_EQ(outcome.departures.size(), 3U);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(outcome.departures[static_cast<size_t>(i)].due,
              AtMs(11 + i) + Duration::Nanoseconds(1));
  }
}

TEST(PipelineTest, ListedPacketsAreLost) {
  const Outcome outcome = Bench("loss=list:2,4-5").Run(Steady(6, Duration::Nanoseconds(10)));
  EXPECT_EQ(Numbers(outcome), (std::vector<uint64_t>{1, 3, 6}));
  EXPECT_EQ(outcome.counters.of(Fate::kLost), 3U);
  EXPECT_EQ(outcome.counters.of(Fate::kDelivered), 3U);
}

// The states of the loss model are counted from the path's start, even after one direction's SPEC
// was changed.
TEST(PipelineTest, JointFadingStaysTheSameAfterAChange) {
  std::vector<std::vector<uint64_t>> lost(2);
  for (size_t direction = 0; direction < 2; ++direction) {
    PipelineOptions options;
    options.name = direction == 0 ? "pair/up" : "pair/down";
    options.pair = "pair";
    const std::string spec = "loss=fading:good=40ms,bad=20ms,joint";
    Bench bench(direction == 0 ? spec : "loss=1%", 1, options);
    bench.Observe();
    bench.pipeline().Begin(At(0));
    for (int64_t ms = 1; ms <= 1000; ++ms) {
      if (ms == 500) bench.pipeline().Change(ParseSpec(spec), AtMs(ms));
      bench.Push(100, AtMs(ms));
    }
    for (const test::Met& met : bench.Finish(Polling::kExact).fates) {
      if (met.fate == Fate::kLost && met.number >= 500) lost[direction].push_back(met.number);
    }
  }
  EXPECT_GT(lost[0].size(), 50U);
  EXPECT_EQ(lost[0], lost[1]);
}

// A cycle begins with the path, regardless of the first packet's arrival, or with the change that
// adds it.
TEST(PipelineTest, ACycleOfLossBeginsWithThePathOrTheChange) {
  const std::string spec = "loss=cycle:pass=10ms,lose=5ms,times=1";
  for (const bool changed : {false, true}) {
    Bench bench(changed ? "" : spec);
    bench.pipeline().Begin(At(0));
    for (int64_t ms = 4; ms <= 40; ++ms) {
      if (changed && ms == 20) bench.pipeline().Change(ParseSpec(spec), AtMs(ms));
      bench.Push(100, AtMs(ms));
    }
    std::vector<uint64_t> lost;
    const std::vector<uint64_t> passed = Numbers(bench.Finish(Polling::kExact));
    for (uint64_t number = 1; number <= 37; ++number) {
      if (std::find(passed.begin(), passed.end(), number) == passed.end()) lost.push_back(number);
    }
    const uint64_t first = changed ? 30 - 3 : 10 - 3;  // packet n arrives at 3 + n ms
    EXPECT_EQ(lost, (std::vector<uint64_t>{first, first + 1, first + 2, first + 3, first + 4}));
  }
}

TEST(PipelineTest, LosesWhatItShould) {
  const Outcome outcome = Bench("loss=10%").Run(Steady(10000, Duration::Nanoseconds(10)));
  EXPECT_NEAR(outcome.counters.of(Fate::kLost), 1000, 4 * 30);  // 4 sigma
  EXPECT_EQ(outcome.counters.of(Fate::kLost) + outcome.departures.size(), 10000U);
}

// A frame store that records the calls of CompleteChecksum(), and can simulate exhausted memory.
class WatchedFrames : public test::Frames {
 public:
  std::optional<FrameHandle> Clone(FrameHandle frame) override {
    return full ? std::nullopt : Frames::Clone(frame);
  }
  void CompleteChecksum(FrameHandle frame) override {
    completed.push_back(frame);
    // The call writes a byte, as if it were the checksum: a bit flipped there before the call would
    // be undone.
    Bytes(frame)[20] = std::byte{0};
  }
  bool full = false;
  std::vector<FrameHandle> completed;
};

TEST(PipelineTest, AChecksumIsCompletedBeforeBitsAreFlipped) {
  WatchedFrames frames;
  Pipeline pipeline(ParseSpec("ber=100%"), frames, {});
  const FrameHandle frame = frames.Add(std::vector<std::byte>(30, std::byte{0xff}));
  pipeline.Push(frame, 30, At(1));
  EXPECT_EQ(frames.completed, std::vector<FrameHandle>{frame});
  EXPECT_EQ(frames.Bytes(frame)[13], std::byte{0xff});  // last byte of the Ethernet header
  EXPECT_EQ(frames.Bytes(frame)[14], std::byte{0});
  EXPECT_EQ(frames.Bytes(frame)[20], std::byte{0xff});
  EXPECT_EQ(pipeline.counters().corrupted, 1U);
  EXPECT_EQ(pipeline.counters().flipped_bits, 16U * 8);
}

TEST(PipelineTest, FramesThatAreNotHitAreNotTouched) {
  WatchedFrames frames;
  Pipeline pipeline(ParseSpec("ber=1e-12 loss=1% delay=1ms"), frames, {});
  for (int i = 1; i <= 100; ++i) {
    pipeline.Push(frames.Add(std::vector<std::byte>(30)), 30, At(i));
  }
  EXPECT_TRUE(frames.completed.empty());
}

TEST(PipelineTest, CorruptsAsManyFramesAsItShould) {
  const int n = 20000;
  const Outcome outcome = Bench("corrupt=10%").Run(Steady(n, Duration::Nanoseconds(10)));
  EXPECT_NEAR(static_cast<double>(outcome.counters.corrupted), n * 0.1,
              test::BinomialBound(n, 0.1));
  EXPECT_EQ(outcome.counters.flipped_bits, outcome.counters.corrupted);
  EXPECT_EQ(outcome.departures.size(), size_t{n});
}

// A damaged frame uses the link and the delay; the receiver drops the frame, and its copy too.
TEST(PipelineTest, TheFrameCheckDropsDamagedFramesAtTheFarEnd) {
  Bench bench("corrupt=30% dup=50% rate=8Mbit delay=10ms fcs=drop");
  bench.Observe();
  const Outcome outcome = bench.Run(Steady(2000, Duration::Milliseconds(3), 1000));
  EXPECT_GT(outcome.counters.corrupted, 400U);
  EXPECT_GT(outcome.counters.of(Fate::kBadFcs), outcome.counters.corrupted);
  for (const test::Met& met : outcome.fates) {
    EXPECT_EQ(met.fate, met.corrupted ? Fate::kBadFcs : Fate::kDelivered);
    EXPECT_EQ(met.at, Instant() + Duration::Milliseconds(3 * static_cast<int64_t>(met.number) + 11 +
                                                         (met.duplicate ? 1 : 0)));
  }
}

TEST(PipelineTest, SlotsComeAfterTheDelay) {
  Bench bench("delay=10ms slot=5ms");
  const Outcome outcome = bench.Run(Steady(4, Duration::Milliseconds(3)));
  ASSERT_EQ(outcome.departures.size(), 4U);
  const std::vector<int64_t> due = {18, 18, 24, 24};
  for (size_t i = 0; i < due.size(); ++i) EXPECT_EQ(outcome.departures[i].due, AtMs(due[i]));
}

TEST(PipelineTest, ACopyFollowsItsOriginalWithTheSameBytes) {
  Bench bench("ber=1% dup=100% delay=1ms");
  const Outcome outcome = bench.Run(Steady(100, Duration::Microseconds(1)));
  ASSERT_EQ(outcome.departures.size(), 200U);
  for (size_t i = 0; i < 200; i += 2) {
    EXPECT_EQ(outcome.departures[i].number, i / 2 + 1);
    EXPECT_EQ(outcome.departures[i + 1].number, i / 2 + 1);
    EXPECT_EQ(outcome.departures[i].due, outcome.departures[i + 1].due);
    EXPECT_EQ(outcome.frames[i], outcome.frames[i + 1]);
    EXPECT_NE(outcome.departures[i].frame, outcome.departures[i + 1].frame);
  }
  EXPECT_EQ(outcome.counters.duplicated, 100U);
}

TEST(PipelineTest, ACopyWithoutMemoryIsCountedAsSuch) {
  WatchedFrames frames;
  frames.full = true;
  Pipeline pipeline(ParseSpec("dup=100%"), frames, {});
  pipeline.Push(frames.Add(std::vector<std::byte>(30)), 30, At(1));
  EXPECT_EQ(pipeline.counters().duplicated, 1U);
  EXPECT_EQ(pipeline.counters().of(Fate::kNoMemory), 1U);
  EXPECT_EQ(pipeline.waiting(), 1U);
}

TEST(PipelineTest, DuplicatesAreAsManyAsAsked) {
  const Outcome outcome = Bench("dup=5%:corr=50%").Run(Steady(20000, Duration::Nanoseconds(10)));
  EXPECT_NEAR(outcome.counters.duplicated, 1000, 4.9 * std::sqrt(20000 * 0.05 * 0.95 * 3));
}

TEST(PipelineTest, WhatFoundNoMemoryArrivedAndIsCounted) {
  Bench bench("delay=1ms loss=list:2");
  bench.Observe();
  bench.Push(60, At(1));
  bench.pipeline().Refuse(1000, Fate::kDiskBehind, At(2));
  bench.Push(60, At(3));  // the third packet
  const Outcome outcome = bench.Finish(Polling::kExact);
  EXPECT_EQ(outcome.counters.arrived, 3U);
  EXPECT_EQ(outcome.counters.arrived_bytes, 1120U);
  EXPECT_EQ(outcome.counters.of(Fate::kDiskBehind), 1U);
  EXPECT_EQ(Numbers(outcome), (std::vector<uint64_t>{1, 3}));
  EXPECT_EQ(outcome.fates.at(0), (test::Met{2, Fate::kDiskBehind, At(2), false, false, false}));
}

TEST(PipelineTest, ALineWithoutRoomIsACauseOfLoss) {
  struct Small : MemoryFifo {
    explicit Small(bool disk) : disk(disk) {}
    bool Push(const Packet& packet) override { return packets() < 2 && MemoryFifo::Push(packet); }
    bool DiskBehind() const override { return disk; }
    bool disk;
  };
  for (const bool disk : {false, true}) {
    PipelineOptions options;
    options.make_fifo = [disk] { return std::make_unique<Small>(disk); };
    const Outcome outcome = Bench("delay=1ms", 1, options).Run(Steady(5, Duration::Nanoseconds(1)));
    EXPECT_EQ(Numbers(outcome), (std::vector<uint64_t>{1, 2}));
    EXPECT_EQ(outcome.counters.of(disk ? Fate::kDiskBehind : Fate::kNoMemory), 3U);
  }
}

// A packet of 60 bytes and 24 bytes of overhead takes 84 us at 8 Mbit/s; the queue holds the
// packets that are sent within 20 ms.
TEST(PipelineTest, ALimitInTimeCountsTheOverhead) {
  const Outcome outcome =
      Bench("rate=8Mbit queue=20ms overhead=24B").Run(Steady(1000, Duration::Nanoseconds(1), 60));
  ASSERT_EQ(outcome.departures.size(), 1U + 20000 / 84);
  EXPECT_LE(outcome.departures.back().due, AtMs(20) + Duration::Microseconds(85));
}

// A packet of 60 bytes takes two ATM cells, 106 us at 8 Mbit/s.
TEST(PipelineTest, ALimitInTimeCountsCells) {
  const Outcome outcome = Bench("rate=8Mbit queue=10600us overhead=0:atm")
                              .Run(Steady(1000, Duration::Nanoseconds(1), 60));
  ASSERT_EQ(outcome.departures.size(), 101U);
  EXPECT_EQ(outcome.departures.back().due, At(1) + Duration::Microseconds(106 * 101));
}

TEST(PipelineTest, ATagCountsForTheRate) {
  PipelineOptions options;
  options.tag_bytes = 4;
  const Outcome outcome =
      Bench("rate=8Mbit overhead=2B", 1, options).Run(Steady(1, Duration(), 94));
  ASSERT_EQ(outcome.departures.size(), 1U);
  EXPECT_EQ(outcome.departures[0].due, At(100000));
}

TEST(PipelineTest, ALinkThatHasNotBegunToSendHasTheBufferOfItsFirstRate) {
  PipelineOptions options;
  options.read_file = [](const std::string&) { return "0 0\n1 8Mbit\n"; };
  const Outcome outcome =
      Bench("rate=trace:file queue=20ms", 1, options).Run(Steady(1000, Duration::Microseconds(1)));
  // One packet is on the link, and the queue holds 20 ms of packets that take 100 us each; all
  // other packets are dropped.
  EXPECT_EQ(outcome.departures.size(), 201U);
}

TEST(PipelineTest, TracesBeginWithThePath) {
  PipelineOptions options;
  options.read_file = [](const std::string& file) {
    return file == "rate" ? "0 8Mbit\n1 16Mbit\n" : "0 1ms\n1 2ms\n";
  };
  for (const bool begins : {false, true}) {
    Bench bench("rate=trace:rate delay=trace:delay", 1, options);
    if (begins) bench.pipeline().Begin(At(0));
    bench.Push(1000, AtMs(1500));
    bench.Pop(AtMs(3000));
    const Outcome outcome = bench.Take();
    ASSERT_EQ(outcome.departures.size(), 1U);
    const Duration passed = outcome.departures[0].due - AtMs(1500);
    EXPECT_EQ(passed, Duration::Microseconds(begins ? 500 + 2000 : 1000 + 1000));
  }
}

// The link determines MAXPACKET: CoDel drops nothing from a queue of one jumbo frame.
TEST(PipelineTest, TheLongestPacketIsTheLinks) {
  for (const uint32_t longest : {1514U, 9014U}) {
    PipelineOptions options;
    options.max_packet = longest;
    const Outcome outcome =
        Bench("rate=1Mbit aqm=codel", 1, options).Run(Steady(60, Duration::Milliseconds(11), 1500));
    EXPECT_EQ(outcome.counters.of(Fate::kAqm) > 0, longest == 1514U);
  }
}

TEST(PipelineTest, WaitsForALineOnDisk) {
  test::SlowFifo* line = nullptr;
  PipelineOptions options;
  options.make_fifo = [&line] {
    auto fifo = std::make_unique<test::SlowFifo>();
    line = fifo.get();
    return fifo;
  };
  Bench bench("delay=1ms", 1, options);
  bench.Push(60, At(5));
  EXPECT_TRUE(bench.pipeline().Stalled());
  EXPECT_EQ(bench.pipeline().NextEvent(), Instant::Never());
  bench.Pop(AtMs(2));
  EXPECT_EQ(bench.pipeline().waiting(), 1U);
  line->arrived = true;
  bench.Pop(AtMs(3));
  const Outcome outcome = bench.Take();
  ASSERT_EQ(outcome.departures.size(), 1U);
  // Although the packet arrives from the disk late, it is due at the instant that the model
  // determines.
  EXPECT_EQ(outcome.departures[0].due, AtMs(1) + Duration::Nanoseconds(5));
  EXPECT_FALSE(bench.pipeline().Stalled());
}

TEST(PipelineTest, AShorterDelayOvertakesUnlessOrderIsKept) {
  for (const bool keep : {false, true}) {
    const std::string order = keep ? " order=keep" : "";
    Bench bench("delay=10ms" + order);
    bench.Push(60, AtMs(0));
    bench.Push(60, AtMs(1));
    bench.pipeline().Change(ParseSpec("delay=2ms" + order), AtMs(2));
    bench.Push(60, AtMs(3));
    bench.pipeline().Change(ParseSpec("delay=20ms" + order), AtMs(4));
    bench.Push(60, AtMs(4));
    const Outcome outcome = bench.Finish(Polling::kExact);
    std::vector<Instant> due;
    for (const Departure& departure : outcome.departures) due.push_back(departure.due);
    if (keep) {
      EXPECT_EQ(Numbers(outcome), (std::vector<uint64_t>{1, 2, 3, 4}));
      EXPECT_EQ(due, (std::vector<Instant>{AtMs(10), AtMs(11), AtMs(11), AtMs(24)}));
    } else {
      EXPECT_EQ(Numbers(outcome), (std::vector<uint64_t>{3, 1, 2, 4}));
      EXPECT_EQ(due, (std::vector<Instant>{AtMs(5), AtMs(10), AtMs(11), AtMs(24)}));
    }
  }
}

TEST(PipelineTest, WhatWaitsLeavesAtTheNewRate) {
  Bench bench("rate=8Mbit");  // a packet of 1000 bytes takes 1 ms
  for (int i = 0; i < 4; ++i) bench.Push(1000, AtMs(0));
  bench.pipeline().Change(ParseSpec("rate=80Mbit"), At(500000));
  const Outcome outcome = bench.Finish(Polling::kExact);
  ASSERT_EQ(outcome.departures.size(), 4U);
  EXPECT_EQ(outcome.departures[0].due, AtMs(1));  // the packet being sent keeps its end
  EXPECT_EQ(outcome.departures[1].due, At(1100000));
  EXPECT_EQ(outcome.departures[3].due, At(1300000));
}

TEST(PipelineTest, WithoutARateTheQueueDrainsAtOnce) {
  Bench bench("rate=8Mbit delay=5ms");
  for (int i = 0; i < 4; ++i) bench.Push(1000, AtMs(0));
  bench.pipeline().Change(ParseSpec("delay=5ms"), At(500000));
  bench.Push(1000, AtMs(2));
  bench.pipeline().Change(ParseSpec("delay=5ms rate=8Mbit"), AtMs(3));
  bench.Push(1000, AtMs(3));
  const Outcome outcome = bench.Finish(Polling::kExact);
  EXPECT_EQ(Numbers(outcome), (std::vector<uint64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(outcome.departures[3].due, AtMs(6));  // together with the packet that was being sent
  EXPECT_EQ(outcome.departures[4].due, AtMs(7));
  EXPECT_EQ(outcome.departures[5].due, AtMs(9));
}

// A link that replaces another link during a transmission starts to send only when that
// transmission has ended.
TEST(PipelineTest, ALinkThatReplacesABusyOneStartsWhenThatIsFree) {
  PipelineOptions options;
  // The trace allows a packet of 1500 bytes each millisecond.
  options.read_file = [](const std::string&) { return "1\n"; };
  Bench bench("rate=800kbit", 1, options);  // a packet of 1000 bytes takes 10 ms
  bench.Push(1000, AtMs(0));
  bench.Push(1000, AtMs(0));
  bench.pipeline().Change(ParseSpec("rate=mahimahi:t"), AtMs(1));
  const Outcome outcome = bench.Finish(Polling::kExact);
  ASSERT_EQ(outcome.departures.size(), 2U);
  EXPECT_EQ(outcome.departures[0].due, AtMs(10));
  EXPECT_GE(outcome.departures[1].due, AtMs(10));
}

TEST(PipelineTest, ARefusedChangeChangesNothing) {
  PipelineOptions options;
  options.read_file = [](const std::string& file) -> std::string {
    throw UsageError(file + ": no such file");
  };
  Bench bench("delay=1ms loss=list:2", 1, options);
  bench.Push(60, At(0));
  EXPECT_THROW(bench.pipeline().Change(ParseSpec("delay=trace:x"), At(1)), UsageError);
  EXPECT_THROW(bench.pipeline().Change(ParseSpec("loss=trace:x delay=9ms"), At(1)), UsageError);
  EXPECT_THROW(bench.pipeline().Change(ParseSpec("delay=9ms rate=mahimahi:x"), At(1)), UsageError);
  Spec impossible;
  impossible.delay.jitter = Jitter{Duration::Seconds(1)};
  EXPECT_THROW(bench.pipeline().Change(impossible, At(1)), UsageError);
  EXPECT_EQ(FormatSpec(bench.pipeline().spec()), "delay=1ms loss=list:2");
  bench.Push(60, At(2));
  bench.Push(60, At(3));
  const Outcome outcome = bench.Finish(Polling::kExact);
  EXPECT_EQ(Numbers(outcome), (std::vector<uint64_t>{1, 3}));
  EXPECT_EQ(outcome.departures[1].due, AtMs(1) + Duration::Nanoseconds(3));
}

TEST(PipelineTest, AChangeLeavesTheOtherStagesAsTheyAre) {
  // A periodic loss that restarted, or random numbers drawn again, would change the result.
  const auto lost = [](bool change) {
    Bench bench("loss=gemodel:p=5%,r=20% delay=1ms");
    for (int i = 1; i <= 2000; ++i) {
      if (change && i % 100 == 0) {
        bench.pipeline().Change(
            ChangeSpec(bench.pipeline().spec(), i % 200 == 0 ? "delay=1ms" : "delay=2ms"), AtMs(i));
      }
      bench.Push(60, AtMs(i));
    }
    const Outcome outcome = bench.Finish(Polling::kExact);
    auto numbers = Numbers(outcome);
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  };
  EXPECT_EQ(lost(true), lost(false));
}

TEST(PipelineTest, FilesThatCannotBeReadAreUsageErrors) {
  EXPECT_THROW(Bench("loss=trace:x"), UsageError);
  EXPECT_THROW(Bench("delay=1ms jitter=1ms dist=x.dist"), UsageError);
  EXPECT_THROW(Bench("rate=trace:x"), UsageError);
}

TEST(FateTest, EachHasAName) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < static_cast<size_t>(Fate::kCount); ++i) {
    names.push_back(FateName(static_cast<Fate>(i)));
  }
  EXPECT_THAT(names, testing::ElementsAre("delivered", "lost", "bad-fcs", "queue-full", "aqm",
                                          "no-memory", "disk-behind", "no-binding", "refused"));
}

}  // namespace
}  // namespace viaduct::path
