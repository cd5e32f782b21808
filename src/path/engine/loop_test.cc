#include "path/engine/loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "base/error.h"
#include "base/test_clock.h"
#include "base/wire/test/packet_builder.h"
#include "port/test/memory_port.h"

namespace viaduct::engine {
namespace {

using namespace wire::packet;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Duration kMillisecond = Duration::Milliseconds(1);

// A loop between ports in memory that the test drives by hand.
class Bench {
 public:
  explicit Bench(Config config, size_t capacity = 256, size_t max_frame = 2048)
      : config_(std::move(config)) {
    config_.frame_bytes = 1518;
    for (size_t i = 0; i < config_.ports.size(); ++i) {
      auto [outside, inside] = io::MemoryPort::MakePair(capacity, max_frame);
      outside_.push_back(std::move(outside));
      inside_.push_back(io::Hold(std::move(inside)));
    }
    classifier_.emplace(config_);
    loop_.emplace(config_, *classifier_, budget_, clock_);
    for (size_t i = 0; i < config_.ports.size(); ++i) {
      loop_->AddReceiver(i, inside_[i].get());
      loop_->AddSender(i, inside_[i].get());
    }
    for (size_t i = 0; i < config_.pairs.size(); ++i) {
      for (const Direction direction : {Direction::kUp, Direction::kDown}) {
        for (size_t j = 0; j <= config_.pairs[i].classes.size(); ++j) {
          loop_->AddPipeline(i, j, direction, nullptr, 0);
        }
      }
    }
    loop_->JoinReceivers();
    Settle();
  }

  void Send(size_t port, const Packet& packet) { SendBytes(port, Build(packet), Stamp()); }
  void SendBytes(size_t port, const std::vector<std::byte>& bytes,
                 const io::ReceivedFrame& metadata) {
    outside_[port].SetNextMetadata(metadata);
    const io::FrameToSend one(bytes);
    ASSERT_EQ(outside_[port].Transmit({&one, 1}), 1u);
  }
  io::ReceivedFrame Stamp() {
    io::ReceivedFrame frame;
    frame.received = clock_.Realtime();
    return frame;
  }

  // Performs the work that is due at the clock's current time, in at most 16 turns: a port of a
  // path without delay is polled constantly while frames arrive, and the clock stands still.
  void Settle() {
    loop_->Sleep(Duration());
    for (int i = 0; i < 16 && loop_->NextTurn() <= clock_.Now(); ++i) loop_->Turn();
  }
  // Performs every turn that has work, each at its due time, until `until`.
  void RunUntil(Instant until) {
    Settle();
    while (loop_->NextTurn() <= until) {
      const Instant next = std::max(clock_.Now() + Duration::Nanoseconds(100), loop_->NextTurn());
      if (next > until) break;
      clock_.Set(next);
      Settle();
    }
    clock_.Set(until);
    Settle();
  }

  std::vector<std::string> Received(size_t port) {
    std::vector<std::string> all;
    std::array<io::ReceivedFrame, 64> frames;
    while (const size_t count = outside_[port].Receive(frames)) {
      for (size_t i = 0; i < count; ++i) all.push_back(Describe(frames[i].bytes));
    }
    return all;
  }
  Statistics Read() {
    Statistics statistics;
    statistics.ports.resize(config_.ports.size());
    loop_->AddTo(statistics);
    return statistics;
  }

  TestClock clock_;
  Config config_;
  MemoryBudget budget_{config_.memory};
  std::vector<io::MemoryPort> outside_;
  std::vector<std::unique_ptr<io::AnyPort>> inside_;
  std::optional<Classifier> classifier_;
  std::optional<Loop> loop_;
};

Config OnePair(const std::string& up, const std::string& down = "") {
  Config config;
  config.ports = {"a", "b"};
  config.pairs = {{"p", {0, {}, {}}, {1, {}, {}}, path::ParseSpec(up), path::ParseSpec(down), {}}};
  config.memory = 1 << 20;
  return config;
}

Packet Numbered(int number) {
  return Ethernet{} / Ipv4{} / Udp{1024, 53} / Payload{std::to_string(number)};
}
std::string Text(const Packet& packet) { return Describe(Build(packet)); }

TEST(LoopTest, APlainWireForwardsBothWaysAtOnce) {
  Bench bench(OnePair(""));
  bench.Send(0, Numbered(1));
  bench.Send(1, Numbered(2));
  bench.Settle();
  EXPECT_THAT(bench.Received(1), ElementsAre(Text(Numbered(1))));
  EXPECT_THAT(bench.Received(0), ElementsAre(Text(Numbered(2))));
}

Config TwoPairs(const std::string& first, const std::string& second) {
  Config config;
  config.ports = {"a", "b", "c", "d"};
  config.pairs = {{"p", {0, {}, {}}, {1, {}, {}}, path::ParseSpec(first), {}, {}},
                  {"q", {2, {}, {}}, {3, {}, {}}, path::ParseSpec(second), {}, {}}};
  config.memory = 1 << 20;
  return config;
}

// A frame of 43 bytes takes 43 us at 8 Mbit/s. Frames of both ports enter by their time stamps,
// although one port is read before the other.
TEST(LoopTest, PairsThatShareALinkContendInTheOrderOfArrival) {
  Bench bench(TwoPairs("rate=8Mbit link=air", "link=air delay=1ms"));
  const Instant start = bench.clock_.Now();
  for (int i = 1; i <= 4; ++i) {
    bench.clock_.Advance(Duration::Microseconds(1));
    bench.Send(i % 2 == 1 ? 2 : 0, Numbered(i));
  }
  const Duration each = Duration::Microseconds(43);
  const auto after = [&](int64_t frames) {
    return start + Duration::Microseconds(1) + each * frames;
  };
  bench.RunUntil(after(2) - Duration::Nanoseconds(1));
  EXPECT_THAT(bench.Received(1), IsEmpty());
  bench.RunUntil(after(2));
  EXPECT_THAT(bench.Received(1), ElementsAre(Text(Numbered(2))));
  bench.RunUntil(after(4));
  EXPECT_THAT(bench.Received(1), ElementsAre(Text(Numbered(4))));
  bench.RunUntil(after(1) + kMillisecond - Duration::Nanoseconds(1));
  EXPECT_THAT(bench.Received(3), IsEmpty());
  bench.RunUntil(after(1) + kMillisecond);
  EXPECT_THAT(bench.Received(3), ElementsAre(Text(Numbered(1))));
  bench.RunUntil(after(3) + kMillisecond);
  EXPECT_THAT(bench.Received(3), ElementsAre(Text(Numbered(3))));
  EXPECT_EQ(bench.Read().lateness.Max(), 0);
}

TEST(LoopTest, BothDirectionsOfAPairCanShareALink) {
  Config config = OnePair("rate=8Mbit link=air", "link=air");
  Bench bench(std::move(config));
  const Instant start = bench.clock_.Now();
  for (int i = 1; i <= 4; ++i) bench.Send(static_cast<size_t>(i % 2), Numbered(i));
  bench.RunUntil(start + Duration::Microseconds(43 * 4) - Duration::Nanoseconds(1));
  EXPECT_EQ(bench.Received(0).size() + bench.Received(1).size(), 3u);
  bench.RunUntil(start + Duration::Microseconds(43 * 4));
  EXPECT_EQ(bench.Received(0).size() + bench.Received(1).size(), 1u);
}

TEST(LoopTest, ASharedLinkWithoutARateIsAnError) {
  EXPECT_THROW(Bench(TwoPairs("link=air", "link=air")), UsageError);
  EXPECT_THROW(Bench(TwoPairs("rate=1Mbit link=air", "rate=2Mbit link=air")), UsageError);
}

TEST(LoopTest, TheDelayCountsFromTheKernelsStampAndNotFromTheLook) {
  Bench bench(OnePair("delay=10ms"));
  const Instant sent = bench.clock_.Now();
  bench.Send(0, Numbered(1));
  bench.clock_.Advance(kMillisecond * 4);  // the frame is read late
  bench.Settle();
  bench.RunUntil(sent + kMillisecond * 10 - Duration::Nanoseconds(1));
  EXPECT_THAT(bench.Received(1), IsEmpty());
  bench.RunUntil(sent + kMillisecond * 10);
  EXPECT_THAT(bench.Received(1), ElementsAre(Text(Numbered(1))));
  const Statistics statistics = bench.Read();
  EXPECT_EQ(statistics.lateness.Count(), 1u);
  EXPECT_EQ(statistics.lateness.Max(), 0);
  EXPECT_EQ(statistics.memory_used, 0);
  EXPECT_GT(statistics.memory_peak, 0);
}

TEST(LoopTest, AFrameLooksTheSameToThePathHoweverLateItIsFound) {
  // Counts the delivered frames when a rate limit of one frame per millisecond applies to ten
  // simultaneous frames, for different times at which the loop reads the frames.
  std::vector<uint64_t> delivered;
  for (const int found_after : {0, 3, 6}) {
    Bench bench(OnePair("rate=512kbit queue=5p"));  // a frame of 64 bytes takes 1 ms
    for (int i = 0; i < 10; ++i) {
      bench.SendBytes(0, std::vector<std::byte>(64), bench.Stamp());
    }
    const Instant sent = bench.clock_.Now();
    bench.clock_.Advance(kMillisecond * found_after);
    bench.RunUntil(sent + kMillisecond * 7);
    delivered.push_back(bench.Received(1).size());
    const path::Counters counters = bench.Read().pipelines[0].counters;
    EXPECT_EQ(counters.of(path::Fate::kQueueFull), 4u);
  }
  EXPECT_THAT(delivered, ElementsAre(6, 6, 6));
}

TEST(LoopTest, ASetClockDelaysNothing) {
  Bench bench(OnePair("delay=10ms"));
  const Instant sent = bench.clock_.Now();
  bench.Send(0, Numbered(1));
  bench.clock_.Advance(kMillisecond);
  bench.clock_.Step(-Duration::Seconds(86400));
  bench.Send(0, Numbered(2));
  bench.clock_.Advance(kMillisecond);
  bench.RunUntil(sent + kMillisecond * 10);
  EXPECT_THAT(bench.Received(1), ElementsAre(Text(Numbered(1))));
  bench.RunUntil(sent + kMillisecond * 11);
  EXPECT_THAT(bench.Received(1), ElementsAre(Text(Numbered(2))));
}

TEST(LoopTest, TagsAreTakenOffRewrittenAndCountedWhereNobodyWantsThem) {
  Config config;
  config.ports = {"trunk"};
  config.pairs = {{"p", {0, 10, {}}, {0, 20, {}}, path::ParseSpec("delay=1ms"), {}, {}},
                  {"q", {0, 30, {}}, {0, {}, 100}, path::ParseSpec("delay=2ms"), {}, {}}};
  Bench bench(config);
  const auto with = [](auto tag) {
    return Ethernet{} / tag / Ipv4{} / Udp{1024, 53} / Payload{"data"};
  };
  bench.Send(0, with(Vlan{.id = 10}));
  bench.Send(0, with(Vlan{.id = 30}));
  bench.Send(0, with(Vlan{.id = 40}));
  bench.RunUntil(bench.clock_.Now() + kMillisecond * 3);
  EXPECT_THAT(bench.Received(0),
              ElementsAre(Text(with(Vlan{.id = 20})), Text(with(Mpls{100, 64}))));
  EXPECT_EQ(bench.Read().ports[0].unmatched, 1u);
}

TEST(LoopTest, ClassesHavePathsOfTheirOwn) {
  Config config = OnePair("delay=5ms");
  config.pairs[0].classes = {{"dns", "udp port 53", path::ParseSpec("loss=100%"), {}}};
  Bench bench(config);
  bench.Send(0, Ethernet{} / Ipv4{} / Udp{1024, 53});
  bench.Send(0, Ethernet{} / Ipv4{} / Udp{1024, 54});
  bench.RunUntil(bench.clock_.Now() + kMillisecond * 5);
  EXPECT_EQ(bench.Received(1).size(), 1u);
  std::map<std::string, uint64_t> lost;
  const Statistics statistics = bench.Read();
  for (const auto& each : statistics.pipelines) {
    if (each.direction == Direction::kUp) {
      lost[each.class_name] = each.counters.of(path::Fate::kLost);
    }
  }
  EXPECT_EQ(lost, (std::map<std::string, uint64_t>{{"", 0}, {"dns", 1}}));
}

TEST(LoopTest, WithoutMemoryAFrameIsLostAndCounted) {
  Config config = OnePair("delay=10ms");
  config.memory = 8000;  // space for four frames
  Bench bench(config);
  for (int i = 0; i < 10; ++i) bench.Send(0, Numbered(i));
  bench.RunUntil(bench.clock_.Now() + kMillisecond * 10);
  EXPECT_EQ(bench.Received(1).size(), 4u);
  const path::Counters counters = bench.Read().pipelines[0].counters;
  EXPECT_EQ(counters.arrived, 10u);
  EXPECT_EQ(counters.of(path::Fate::kNoMemory), 6u);
  EXPECT_EQ(counters.of(path::Fate::kDelivered), 4u);
}

TEST(LoopTest, AChangeLosesNothingAndARefusedOneChangesNothing) {
  Bench bench(OnePair("delay=10ms"));
  const Instant start = bench.clock_.Now();
  bench.Send(0, Numbered(1));
  bench.Settle();
  EXPECT_THROW(
      bench.loop_->Change(0, 0, Direction::kUp, path::ParseSpec("loss=trace:/nonexistent")),
      UsageError);
  bench.loop_->Change(0, 0, Direction::kUp, path::ParseSpec("delay=30ms"));
  bench.Send(0, Numbered(2));
  bench.RunUntil(start + kMillisecond * 10);
  EXPECT_THAT(bench.Received(1), ElementsAre(Text(Numbered(1))));
  bench.RunUntil(start + kMillisecond * 30);
  EXPECT_THAT(bench.Received(1), ElementsAre(Text(Numbered(2))));
}

TEST(LoopTest, APartialChecksumIsCompleteBeforeAnythingElse) {
  Bench bench(OnePair(""));
  const Packet packet = Ethernet{} / Ipv4{} / Udp{1024, 53} / Payload{"data"};
  std::vector<std::byte> bytes = Build(packet);
  const size_t udp = 14 + 20;
  // A sender with checksum offload leaves the pseudo-header's sum in the checksum field.
  io::ReceivedFrame metadata = bench.Stamp();
  metadata.checksum = io::Checksum::kPartial;
  metadata.checksum_start = udp;
  metadata.checksum_offset = 6;
  const uint32_t sum = wire::PseudoHeaderSum(wire::FindIpLayers(bytes)->Source(bytes),
                                             wire::FindIpLayers(bytes)->Destination(bytes), 17,
                                             static_cast<uint32_t>(bytes.size() - udp));
  wire::Store16(&bytes[udp + 6], static_cast<uint16_t>(~wire::FinishChecksum(sum)));
  EXPECT_THAT(Describe(bytes), HasSubstr("checksum bad"));
  bench.SendBytes(0, bytes, metadata);
  bench.Settle();
  EXPECT_THAT(bench.Received(1), ElementsAre(Text(packet)));
}

TEST(LoopTest, WhatTheFarInterfaceRefusesIsNotDelivered) {
  Config config = OnePair("delay=1ms");
  config.pairs[0].b.vlan = 7;  // the VLAN tag makes the longest frame too long for the port
  Bench bench(config, 256, 100);
  for (const size_t payload : {58U, 10U, 58U, 58U}) {
    bench.Send(0, Ethernet{} / Ipv4{} / Udp{1024, 53} / Counting(payload));
  }
  bench.RunUntil(bench.clock_.Now() + kMillisecond * 2);
  EXPECT_EQ(bench.Received(1).size(), 1u);
  const Statistics statistics = bench.Read();
  const path::Counters& counters = statistics.pipelines[0].counters;
  EXPECT_EQ(counters.arrived, 4u);
  EXPECT_EQ(counters.of(path::Fate::kRefused), 3u);
  EXPECT_EQ(counters.of(path::Fate::kDelivered), 1u);
  EXPECT_EQ(counters.delivered_bytes, 52u);
  EXPECT_EQ(statistics.lateness.Count(), 1u) << "they did not leave, late or not";
  EXPECT_EQ(statistics.memory_used, 0);
}

TEST(LoopTest, AFullPortHoldsFramesBackAndLosesNone) {
  Bench bench(OnePair("delay=1ms"), 16);
  for (int round = 0; round < 8; ++round) {
    for (int i = 0; i < 8; ++i) bench.Send(0, Numbered(8 * round + i));
    bench.RunUntil(bench.clock_.Now() + kMillisecond / 2);
  }
  std::vector<std::string> all;
  for (int i = 0; i < 10; ++i) {
    bench.RunUntil(bench.clock_.Now() + kMillisecond);
    for (const auto& each : bench.Received(1)) all.push_back(each);
  }
  ASSERT_EQ(all.size(), 64u);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(all[i], Text(Numbered(i)));
}

// Ends the loop, as Engine::Stop() does, and returns the statistics of the first pipeline.
PipelineStatistics AtTheEnd(Bench& bench) {
  bench.loop_->Stop();
  bench.loop_->Run(-1);
  return bench.Read().pipelines[0];
}

TEST(LoopTest, WhatWaitsAtAPortAtTheEndHasArrived) {
  for (const std::string delay : {"", "delay=5s"}) {
    SCOPED_TRACE(delay);
    const size_t delivered = delay.empty() ? 500 : 0;
    Bench bench(OnePair(delay), 1024);
    for (int i = 0; i < 500; ++i) bench.Send(0, Numbered(i));
    const PipelineStatistics end = AtTheEnd(bench);
    EXPECT_EQ(end.counters.arrived, 500u);
    EXPECT_EQ(end.counters.of(path::Fate::kDelivered), delivered);
    EXPECT_EQ(end.waiting, 500 - delivered);
    EXPECT_EQ(bench.Received(1).size(), delivered);
  }
}

TEST(LoopTest, WhatWaitsAtPortsOfOneLinkAtTheEndHasArrived) {
  Bench bench(OnePair("rate=1Mbit link=x", "rate=1Mbit link=x"));
  for (int i = 0; i < 100; ++i) bench.Send(static_cast<size_t>(i % 2), Numbered(i));
  EXPECT_EQ(AtTheEnd(bench).counters.arrived, 50u);
  EXPECT_EQ(bench.Read().pipelines[1].counters.arrived, 50u);
}

TEST(LoopTest, WhatAFullPortHasNotTakenAtTheEndIsNotDelivered) {
  Bench bench(OnePair(""), 16);
  for (int i = 0; i < 64; ++i) {
    bench.Send(0, Numbered(i));
    if (i % 8 == 7) bench.Settle();
  }
  const PipelineStatistics end = AtTheEnd(bench);
  EXPECT_EQ(end.counters.arrived, 64u);
  EXPECT_EQ(bench.Received(1).size(), 16u);
  EXPECT_EQ(end.counters.of(path::Fate::kDelivered), 16u);
  EXPECT_EQ(end.waiting, 48u);
  EXPECT_EQ(end.counters.delivered_bytes + end.waiting_bytes, end.counters.arrived_bytes);
}

}  // namespace
}  // namespace viaduct::engine
