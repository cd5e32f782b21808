#include "path/queue/mahimahi_rate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "path/queue/fifo_queue.h"
#include "path/queue/test_queues.h"

namespace viaduct::path {
namespace {

using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

std::string MahimahiError(std::string_view text) {
  try {
    ParseMahimahi(text, "f.trace");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ParseMahimahi, ReadsTimes) {
  EXPECT_THAT(ParseMahimahi("0\n2\r\n2\n # a comment\n\n7", "f"), ElementsAre(0, 2, 2, 7));
}

TEST(ParseMahimahi, SaysWhatIsWrong) {
  EXPECT_THAT(MahimahiError(""), HasSubstr("f.trace: contains no times"));
  EXPECT_THAT(MahimahiError("0\n0\n"), HasSubstr("f.trace: the trace has no duration"));
  EXPECT_THAT(MahimahiError("1\n5\n4\n"), HasSubstr("f.trace:3: 4 follows 5"));
  EXPECT_THAT(MahimahiError("1\n2.5\n"), HasSubstr("f.trace:2: \"2.5\""));
  EXPECT_THAT(MahimahiError("-1\n"), HasSubstr("f.trace:1:"));
  EXPECT_THAT(MahimahiError("99999999999999999999\n"), HasSubstr("f.trace:1:"));
}

// Returns the length of a frame. Sizes in this test are counted as mahimahi does: IP packet and 4
// bytes. A frame has 10 bytes more.
constexpr uint32_t FrameOf(int64_t mahimahi_bytes) {
  return static_cast<uint32_t>(mahimahi_bytes + 10);
}

struct Replay {
  explicit Replay(std::vector<uint32_t> trace)
      : path(std::make_unique<FifoQueue>(InMemory(Packets(1000))),
             std::make_unique<MahimahiRate>(std::move(trace))) {}
  void Push(Instant now, int64_t bytes) {
    PopUntil(now);
    path.Push(MakePacket(++number, FrameOf(bytes)), now, drops);
  }
  void PopUntil(Instant now) {
    while (const auto packet = path.Pop(now, drops)) {
      left.push_back(packet->ready.nanoseconds() / 1000000);
      EXPECT_EQ(packet->ready.nanoseconds() % 1000000, 0);
    }
  }
  Bottleneck path;
  Drops drops;
  uint64_t number = 0;
  std::vector<int64_t> left;  // times at which packets left, in ms
};

TEST(MahimahiRate, AFullPacketAnOpportunity) {
  Replay run({1, 3, 3, 10});
  for (int i = 0; i < 6; ++i) run.Push(At(0), 1504);
  run.PopUntil(AtMs(100));
  EXPECT_THAT(run.left, ElementsAre(1, 3, 3, 10, 11, 13));  // the trace starts again after 10 ms
}

TEST(MahimahiRate, SmallPacketsShareAnOpportunity) {
  Replay run({5, 10});
  for (int i = 0; i < 4; ++i) run.Push(At(0), 752);
  run.PopUntil(AtMs(100));
  EXPECT_THAT(run.left, ElementsAre(5, 5, 10, 10));
}

TEST(MahimahiRate, APacketGoesOnInTheNextOpportunity) {
  Replay run({5, 10, 15});
  for (int i = 0; i < 4; ++i) run.Push(At(0), 1000);
  run.PopUntil(AtMs(100));
  // The opportunities send 1000 + 504, 496 + 1000 + 8, and 992 bytes.
  EXPECT_THAT(run.left, ElementsAre(5, 10, 10, 15));
}

TEST(MahimahiRate, AnOpportunityWithoutPacketIsLost) {
  Replay run({5, 10, 20});
  run.Push(AtMs(0), 100);
  run.Push(AtMs(5), 100);  // arrives after the opportunity at 5 ms, of which 1404 bytes are unused
  run.Push(AtMs(11), 1504);
  run.Push(AtMs(47), 1504);
  run.PopUntil(AtMs(100));
  EXPECT_THAT(run.left, ElementsAre(5, 10, 20, 50));
}

TEST(MahimahiRate, ManyIdleRoundsAreSkipped) {
  Replay run({4, 10});
  run.Push(AtMs(0), 1504);
  run.Push(AtMs(1000000), 1504);
  run.Push(AtMs(2000009), 1504);
  run.PopUntil(AtMs(3000000));
  EXPECT_THAT(run.left, ElementsAre(4, 1000004, 2000010));
}

TEST(MahimahiRate, TheTraceStartsWithTheFirstPacket) {
  Replay run({4, 10});
  run.Push(AtMs(7), 1504);
  run.PopUntil(AtMs(100));
  EXPECT_THAT(run.left, ElementsAre(11));
}

TEST(MahimahiRate, MeanRate) {
  EXPECT_EQ(MahimahiRate({1}).RateAt(At(0)), 1504 * 8 * 1000);
  EXPECT_EQ(MahimahiRate({2, 4}).RateAt(At(0)), 1504 * 8 * 1000 / 2);
}

// A reimplementation of mahimahi's link_queue.cc: each opportunity in the trace is offered to the
// waiting packets.
std::vector<int64_t> Reference(const std::vector<uint32_t>& trace,
                               const std::vector<std::pair<int64_t, int64_t>>& arrivals) {
  std::vector<int64_t> left;
  size_t next = 0;  // index of the first packet that has not left
  int64_t rest = arrivals[0].second;
  for (int64_t round = 0; next < arrivals.size(); round += trace.back()) {
    for (const uint32_t offset : trace) {
      int64_t room = 1504;
      bool begun = next < arrivals.size() && rest < arrivals[next].second;
      while (room > 0 && next < arrivals.size() &&
             (begun || arrivals[next].first < round + offset)) {
        const int64_t sent = std::min(room, rest);
        room -= sent;
        rest -= sent;
        begun = rest > 0;
        if (rest > 0) continue;
        left.push_back(round + offset);
        if (++next < arrivals.size()) rest = arrivals[next].second;
      }
    }
  }
  return left;
}

TEST(MahimahiRate, ReplaysRandomTracesPacketByPacket) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    RandomStream random(seed, "mahimahi");
    std::vector<uint32_t> trace;
    uint32_t time = 0;
    for (uint64_t i = 0; i < 1 + random.Below(30); ++i) {
      time += static_cast<uint32_t>(random.Below(4));
      trace.push_back(time);
    }
    trace.push_back(time + 1);
    std::vector<std::pair<int64_t, int64_t>> arrivals = {{0, 1504}};
    for (int i = 0; i < 300; ++i) {
      arrivals.emplace_back(arrivals.back().first + (random.Chance(0.4) ? random.Below(9) : 0),
                            40 + random.Below(1465));
    }
    Replay run(trace);
    for (const auto& [at, bytes] : arrivals) run.Push(AtMs(at), bytes);
    run.PopUntil(AtMs(10000000));
    ASSERT_EQ(run.left, Reference(trace, arrivals)) << seed;
  }
}

}  // namespace
}  // namespace viaduct::path
