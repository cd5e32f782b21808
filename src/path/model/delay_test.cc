// Tests of delays and reordering of packets in a pipeline.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "path/model/distribution.h"
#include "path/test_pipeline.h"
#include "path/test_statistics.h"

namespace viaduct::path {
namespace {

using test::Bench;
using test::Outcome;
using test::Steady;

// Returns options with which a pipeline finds one file, by this name and with this text.
PipelineOptions WithFile(const std::string& name, const std::string& text) {
  PipelineOptions options;
  options.read_file = [name, text](const std::string& path) {
    if (path != name) throw UsageError(path + ": no such file");
    return text;
  };
  return options;
}

// Returns the delays in nanoseconds, in the order of arrival at the path, of packets that arrived
// `gap` apart.
std::vector<double> Delays(const Outcome& outcome, Duration gap) {
  std::vector<double> delays(outcome.departures.size());
  for (const Departure& departure : outcome.departures) {
    const Instant arrived = Instant() + gap * static_cast<int64_t>(departure.number);
    delays[departure.number - 1] = static_cast<double>((departure.due - arrived).nanoseconds());
  }
  return delays;
}

constexpr auto kGap = Duration::Microseconds(10);

std::vector<double> DelaysOf(const std::string& spec, int count, PipelineOptions options = {}) {
  return Delays(Bench(spec, 3, std::move(options)).Run(Steady(count, kGap)), kGap);
}

double ParetoProbability(double x) { return x <= -2.0 / 3 ? 0 : 1 - std::pow(0.75 * x + 1.5, -3); }

// Inverts the quantile function by bisection (distribution_test.cc tests the quantile function
// against its formula).
double ParetoNormalProbability(double x) {
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double u = (low + high) / 2;
    (Distribution::Named("paretonormal").Quantile(u) < x ? low : high) = u;
  }
  return low;
}

struct Requested {
  const char* spec;
  double (*probability)(double);  // distribution of the deviation, in units of the jitter
};

TEST(DelayTest, DelaysAreDistributedAsRequested) {
  for (const Requested& requested :
       {Requested{"", [](double x) { return std::clamp((x + 1) / 2, 0.0, 1.0); }},
        Requested{" dist=normal", NormalProbability}, Requested{" dist=pareto", ParetoProbability},
        Requested{" dist=paretonormal", ParetoNormalProbability}}) {
    const auto delays = DelaysOf(std::string("delay=100ms jitter=5ms") + requested.spec, 40000);
    ASSERT_EQ(delays.size(), 40000U);
    const double distance = test::KsDistance(
        delays, [&](double delay) { return requested.probability((delay - 100e6) / 5e6); });
    EXPECT_LT(distance, test::KsBound(delays.size())) << requested.spec;
    // The test is sensitive enough: it would detect a mean that is wrong by 0.3 ms.
    EXPECT_GT(
        test::KsDistance(
            delays, [&](double delay) { return requested.probability((delay - 100.3e6) / 5e6); }),
        test::KsBound(delays.size()))
        << requested.spec;
  }
}

TEST(DelayTest, ATableOfNetemIsFollowed) {
  const auto delays =
      DelaysOf("delay=10ms jitter=1ms dist=x.dist", 80000, WithFile("x.dist", "-8192 0 0 8192\n"));
  std::vector<uint64_t> counts(3);
  for (const double delay : delays) ++counts.at(static_cast<size_t>(delay / 1e6) - 9);
  const auto chi_square = test::CompareBins(counts, {0.25, 0.5, 0.25});
  EXPECT_LT(chi_square.value, chi_square.Bound());
}

TEST(DelayTest, CorrelationTiesNeighboursAndKeepsTheDistribution) {
  const size_t n = 120000;
  const auto normal = DelaysOf("delay=100ms jitter=5ms:corr=50% dist=normal", n);
  const double bound = test::kSigmas / std::sqrt(n);
  EXPECT_NEAR(test::Autocorrelation(normal, 1), 0.5, bound);
  EXPECT_NEAR(test::Autocorrelation(normal, 2), 0.25, 2 * bound);
  EXPECT_NEAR(test::Autocorrelation(normal, 20), 0, 2 * bound);
  // A uniform variable computed from a Gaussian process of correlation c has the correlation 6/pi
  // asin(c/2).
  const auto uniform = DelaysOf("delay=100ms jitter=5ms:corr=50%", n);
  EXPECT_NEAR(test::Autocorrelation(uniform, 1), 6 / std::numbers::pi * std::asin(0.25), bound);
  EXPECT_NEAR(test::Autocorrelation(DelaysOf("delay=100ms jitter=5ms", n), 1), 0, bound);
  std::vector<double> independent;  // every 40th value: the correlation 0.5^40 is negligible
  for (size_t i = 0; i < n; i += 40) independent.push_back(uniform[i]);
  EXPECT_LT(test::KsDistance(independent, [](double x) { return (x - 95e6) / 10e6; }),
            test::KsBound(independent.size()));
}

TEST(DelayTest, IsNeverBelowZero) {
  const auto delays = DelaysOf("delay=1ms jitter=5ms dist=normal order=free", 50000);
  const auto none = static_cast<double>(std::count(delays.begin(), delays.end(), 0.0));
  EXPECT_GE(*std::min_element(delays.begin(), delays.end()), 0);
  const double below = NormalProbability(-0.2);
  EXPECT_NEAR(none, 50000 * below, test::BinomialBound(50000, below));
}

TEST(DelayTest, ATraceIsReplayedPacketByPacket) {
  const auto delays = DelaysOf("delay=trace:d", 7, WithFile("d", "1ms\n20us # early\n0\n"));
  EXPECT_EQ(delays, (std::vector<double>{1e6, 2e4, 0, 1e6, 2e4, 0, 1e6}));
}

TEST(DelayTest, ATraceOverTimeHoldsFromItsTimesOn) {
  // Packets arrive at 10, 20, 30... us: the trace begins with the first packet.
  const auto once = DelaysOf("delay=trace:d", 6, WithFile("d", "0 1ms\n0.00002 2ms\n35us 3ms\n"));
  EXPECT_EQ(once, (std::vector<double>{1e6, 1e6, 2e6, 2e6, 3e6, 3e6}));
  const auto again = DelaysOf("delay=trace:d", 8, WithFile("d", "0 1ms\n20us 2ms\n30us repeat\n"));
  EXPECT_EQ(again, (std::vector<double>{1e6, 1e6, 2e6, 1e6, 1e6, 2e6, 1e6, 1e6}));
}

TEST(DelayTest, JitterIsAddedToATrace) {
  const auto delays = DelaysOf("delay=trace:d jitter=1us", 4000, WithFile("d", "1ms\n2ms\n"));
  for (size_t i = 0; i < delays.size(); ++i) {
    EXPECT_NEAR(delays[i], i % 2 == 0 ? 1e6 : 2e6, 1000);
  }
  EXPECT_NE(delays[0], 1e6);
}

TEST(DelayTest, OrderIsKeptWhereAsked) {
  const auto arrivals = Steady(20000, kGap);
  const Outcome keep = Bench("delay=10ms jitter=2ms order=keep").Run(arrivals);
  const Outcome free = Bench("delay=10ms jitter=2ms").Run(arrivals);
  for (uint64_t i = 0; i < 20000; ++i) ASSERT_EQ(keep.departures[i].number, i + 1);
  // If the order is kept, each packet leaves when it leaves in free order or, if later, together
  // with the packet before it.
  std::vector<Instant> due(20001);
  for (const Departure& departure : free.departures) due[departure.number] = departure.due;
  Instant latest;
  for (const Departure& departure : keep.departures) {
    latest = std::max(latest, due[departure.number]);
    ASSERT_EQ(departure.due, latest);
  }
}

// RFC 4737 section 4.2.2: the extent of a reordered packet is its distance, in arrivals, to the
// first packet that was sent later but arrived before it.
std::vector<size_t> ReorderingExtents(const std::vector<Departure>& departures) {
  std::vector<size_t> extents;
  for (size_t i = 0; i < departures.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (departures[j].number <= departures[i].number) continue;
      extents.push_back(i - j);
      break;
    }
  }
  return extents;
}

TEST(ReorderTest, APacketOutOfTurnOvertakesWhatIsUnderWay) {
  // Ten packets are in flight; every 50th packet is not delayed, and arrives at the same instant as
  // the packet sent 10 ms before it, but after that packet.
  const Outcome outcome =
      Bench("delay=10ms reorder=100%:gap=50").Run(Steady(500, Duration::Milliseconds(1)));
  EXPECT_EQ(outcome.counters.reordered, 10U);
  std::vector<size_t> expected;
  for (int packet = 0; packet < 10; ++packet) {
    for (size_t extent = 1; extent <= 9; ++extent) expected.push_back(extent);
  }
  EXPECT_EQ(ReorderingExtents(outcome.departures), expected);
}

TEST(ReorderTest, HappensAsOftenAsAsked) {
  const auto count = [](const char* spec) {
    return static_cast<double>(Bench(spec, 5, {}).Run(Steady(200000, kGap)).counters.reordered);
  };
  EXPECT_NEAR(count("delay=1ms reorder=5%"), 1e4, test::BinomialBound(2e5, 0.05));
  EXPECT_NEAR(count("delay=1ms reorder=5%:corr=30%"), 1e4,
              test::BinomialBound(2e5, 0.05) * std::sqrt(1.3 / 0.7));
  // With gap g and probability p, one packet in g - 1 + 1/p is reordered, in cycles whose geometric
  // part has the variance (1-p)/p^2.
  const double cycle = 4 + 1 / 0.2, variance = 0.8 / 0.04;
  EXPECT_NEAR(count("delay=1ms reorder=20%:gap=5"), 2e5 / cycle,
              test::kSigmas * std::sqrt(2e5 * variance / (cycle * cycle * cycle)));
  EXPECT_EQ(count("delay=1ms reorder=0"), 0);
}

TEST(ReorderTest, TheGapIsTheLeastDistance) {
  const Outcome outcome = Bench("delay=1s reorder=50%:gap=4").Run(Steady(10000, kGap));
  std::vector<uint64_t> early;
  for (const Departure& departure : outcome.departures) {
    if (departure.due < Instant() + Duration::Seconds(1)) early.push_back(departure.number);
  }
  EXPECT_EQ(early.size(), outcome.counters.reordered);
  uint64_t least = 10000;
  for (size_t i = 1; i < early.size(); ++i) least = std::min(least, early[i] - early[i - 1]);
  EXPECT_EQ(least, 4U);
}

}  // namespace
}  // namespace viaduct::path
