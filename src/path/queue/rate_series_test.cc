#include "path/queue/rate_series.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "path/queue/fifo_queue.h"
#include "path/queue/test_queues.h"

namespace viaduct::path {
namespace {

using namespace test;
using testing::HasSubstr;

std::string RateSeriesError(std::string_view text) {
  try {
    ParseRateSeries(text, "f");
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

RateSeries Series(std::string_view text) {
  RateSeries series(ParseRateSeries(text, "f"));
  series.Begin(At(0));
  return series;
}

TEST(ParseRateSeries, ReadsTimesAndRates) {
  const auto series =
      ParseRateSeries("# c\n0 1Mbit\n2.5\t0 # off\n2600ms 4.5Mbit\n10 repeat\n", "f");
  ASSERT_EQ(series.segments.size(), 3u);
  EXPECT_EQ(series.segments[1].start, Duration::Milliseconds(2500));
  EXPECT_EQ(series.segments[1].rate, 0);
  EXPECT_EQ(series.segments[2].start, Duration::Milliseconds(2600));
  EXPECT_EQ(series.segments[2].rate, 4500000);
  EXPECT_EQ(series.round, Duration::Seconds(10));
}

TEST(ParseRateSeries, SaysWhatIsWrong) {
  EXPECT_THAT(RateSeriesError(""), HasSubstr("f: contains no rate greater than 0"));
  EXPECT_THAT(RateSeriesError("0 0\n1 repeat"), HasSubstr("contains no rate greater than 0"));
  EXPECT_THAT(RateSeriesError("1 1Mbit"), HasSubstr("f:1: the first line's time must be 0"));
  EXPECT_THAT(RateSeriesError("0 1Mbit\n2 1Mbit\n\n2 3Mbit"),
              HasSubstr("f:4: times must increase"));
  EXPECT_THAT(RateSeriesError("0 1Mbit\n2 1Mbit\n1 3Mbit"), HasSubstr("f:3: times must increase"));
  EXPECT_THAT(RateSeriesError("0"), HasSubstr("f:1: \"0\": expected \"TIME RATE\""));
  EXPECT_THAT(RateSeriesError("0 1"), HasSubstr("f:1: \"1\""));
  EXPECT_THAT(RateSeriesError("x 1Mbit"), HasSubstr("f:1: \"x\": not a valid time"));
  EXPECT_THAT(RateSeriesError("0 1Mbit extra"), HasSubstr("f:1:"));
  EXPECT_THAT(RateSeriesError("0 1Mbit\n5 repeat\n6 1Mbit"), HasSubstr("f:3: nothing may follow"));
  EXPECT_THAT(RateSeriesError("0 repeat"), HasSubstr("f:1:"));
}

TEST(RateSeries, APacketGoesOnAtTheNewRate) {
  RateSeries link = Series("0 8Mbit\n1 4Mbit\n2 0\n3 8kbit");
  EXPECT_EQ(link.Send(AtMs(0), 1000), AtMs(1));
  EXPECT_EQ(link.Send(At(999500000), 1000), AtMs(1001));  // half at 8 Mbit/s, half at 4 Mbit/s
  // The link sends half a packet, nothing for a second (rate 0), then half a packet.
  EXPECT_EQ(link.Send(AtMs(1999), 1000), AtMs(3500));
  EXPECT_EQ(link.RateAt(AtMs(2500)), 0);
  EXPECT_EQ(link.RateAt(AtMs(1000)), 4000000);
}

TEST(RateSeries, ALastRateOfZeroStopsForGood) {
  RateSeries link = Series("0 8Mbit\n1 0");
  EXPECT_EQ(link.Send(AtMs(1500), 1000), Instant::Never());
}

// If the last rate of a series is zero, the packet being sent leaves once the link is replaced.
TEST(RateSeries, AnotherLinkTakesWhatWasStuck) {
  Bottleneck path(std::make_unique<FifoQueue>(InMemory(Packets(9))),
                  std::make_unique<RateSeries>(ParseRateSeries("0 8Mbit\n0.0005 0", "f")));
  Drops drops;
  path.Push(MakePacket(1, 1000), AtMs(0), drops);
  path.Push(MakePacket(2, 1000), AtMs(0), drops);
  EXPECT_EQ(path.NextEvent(), Instant::Never());
  path.ChangeLink(std::make_unique<ConstantRate>(8000000), AtMs(50));
  EXPECT_EQ(path.Pop(AtMs(99), drops)->ready, AtMs(51));
  EXPECT_EQ(path.Pop(AtMs(99), drops)->ready, AtMs(52));
}

TEST(RateSeries, Repeats) {
  RateSeries link = Series("0 8Mbit\n0.001 0\n0.010 repeat");  // 1000 bytes in each 10 ms
  EXPECT_EQ(link.Send(AtMs(0), 1500), At(10500000));
  EXPECT_EQ(link.Send(At(10500000), 500), AtMs(11));
  EXPECT_EQ(link.Send(AtMs(11), 100000), AtMs(1011));
  EXPECT_EQ(link.Send(AtMs(7005), 1000), AtMs(7011));
  EXPECT_EQ(link.RateAt(AtMs(70000)), 8000000);
  EXPECT_EQ(link.RateAt(AtMs(1)), 0);
}

TEST(RateSeries, IsExactOverManyChanges) {
  std::string text;
  RandomStream random(3, "rates");
  std::vector<int64_t> rates;
  for (int i = 0; i < 50; ++i) {
    rates.push_back(1000000 + static_cast<int64_t>(random.Below(10000000)));
    text += fmt::format("0.0{:02} {}bit\n", i, rates.back());
  }
  RateSeries link = Series(text + "0.050 repeat");
  Instant at = At(0);
  unsigned __int128 work = 0, per_round = 0;
  for (const int64_t rate : rates) per_round += static_cast<unsigned __int128>(rate) * 1000000;
  for (int i = 0; i < 20000; ++i) {
    const auto bytes = static_cast<uint32_t>(60 + random.Below(1455));
    at = link.Send(at, bytes);
    work += static_cast<unsigned __int128>(bytes) * 8000000000;
  }
  const auto rounds = static_cast<int64_t>(work / per_round);
  work %= per_round;
  int64_t offset = 0;
  for (const int64_t rate : rates) {
    const auto capacity = static_cast<unsigned __int128>(rate) * 1000000;
    if (work <= capacity) {
      offset += static_cast<int64_t>(work / static_cast<unsigned __int128>(rate));
      break;
    }
    work -= capacity;
    offset += 1000000;
  }
  EXPECT_EQ(at.nanoseconds(), rounds * 50000000 + offset);
}

}  // namespace
}  // namespace viaduct::path
