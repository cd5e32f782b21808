#include "path/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "path/test_pipeline.h"

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
  // 1000 bytes at 8 Mbit/s take 1 ms.
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

TEST(PipelineTest, LosesWhatItShould) {
  const Outcome outcome = Bench("loss=10%").Run(Steady(10000, Duration::Nanoseconds(10)));
  EXPECT_NEAR(outcome.counters.of(Fate::kLost), 1000, 4 * 30);  // 4 sigma
  EXPECT_EQ(outcome.counters.of(Fate::kLost) + outcome.departures.size(), 10000U);
}

}  // namespace
}  // namespace viaduct::path
