#include "path/model/loss.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "path/test_statistics.h"

namespace viaduct::path {
namespace {

using test::BinomialBound;
using test::CompareBins;
using test::GeometricBins;
using test::RunLengths;

Packet Numbered(uint64_t number) {
  Packet packet;
  packet.number = number;
  return packet;
}

// Returns for each of `count` packets whether it is lost.
std::vector<bool> Losses(std::string_view value, size_t count, const char* trace = "") {
  PipelineOptions options;
  options.read_file = [trace](const std::string&) { return trace; };
  LossModel model(ParseLoss(value), options);
  RandomStream random(11, "loss");
  std::vector<bool> lost(count);
  for (size_t i = 0; i < count; ++i) lost[i] = model.Lose(Numbered(i + 1), random);
  return lost;
}

double Count(const std::vector<bool>& lost) {
  return static_cast<double>(std::count(lost.begin(), lost.end(), true));
}

// Returns the number of packets whose predecessor was lost or not (`before`), and the number of
// lost packets among them.
std::pair<double, double> After(const std::vector<bool>& lost, bool before) {
  double all = 0, hit = 0;
  for (size_t i = 1; i < lost.size(); ++i) {
    if (lost[i - 1] != before) continue;
    ++all;
    if (lost[i]) ++hit;
  }
  return {all, hit};
}

void ExpectRuns(const std::vector<bool>& lost, bool value, const std::vector<double>& expected) {
  const auto chi_square = CompareBins(RunLengths(lost, value, expected.size()), expected);
  EXPECT_GT(chi_square.degrees, 1);
  EXPECT_LT(chi_square.value, chi_square.Bound());
}

TEST(LossModelTest, IndependentLossHasItsFrequencyAndNoMemory) {
  for (const double p : {0.001, 0.01, 0.3, 0.9}) {
    const auto lost = Losses(fmt::format("{}", p), 1000000);
    EXPECT_NEAR(Count(lost), 1e6 * p, BinomialBound(1e6, p));
    const auto [all, hit] = After(lost, true);
    EXPECT_NEAR(hit, all * p, BinomialBound(all, p));
  }
  EXPECT_EQ(Count(Losses("0", 1000)), 0);
  EXPECT_EQ(Count(Losses("100%", 1000)), 1000);
}

TEST(LossModelTest, CorrelationKeepsTheFrequencyAndTiesNeighbours) {
  const double p = 0.05, correlation = 0.4;
  const auto lost = Losses("5%:corr=40%", 1000000);
  // The correlation c multiplies the variance of the mean by (1+c)/(1-c), because the
  // autocorrelation is c^n.
  EXPECT_NEAR(Count(lost), 1e6 * p,
              BinomialBound(1e6, p) * std::sqrt((1 + correlation) / (1 - correlation)));
  for (const bool before : {false, true}) {
    const double expected = correlation * (before ? 1 : 0) + (1 - correlation) * p;
    const auto [all, hit] = After(lost, before);
    EXPECT_NEAR(hit, all * expected, BinomialBound(all, expected));
  }
}

// Computes the share of losses with `run`, numerically, as a Markov chain: its states are the
// decision about the last packet and the number of consecutive losses before it, up to `run`.
double ShareWithRun(double p, double correlation, size_t run) {
  std::vector<double> passed(run + 1), lost(run + 1);  // indexed by the number of losses in a row
  passed[0] = 1;
  double share = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<double> next_passed(run + 1), next_lost(run + 1);
    share = 0;
    for (size_t row = 0; row <= run; ++row) {
      for (const bool before : {false, true}) {
        const double here = before ? lost[row] : passed[row];
        const double loss = correlation * (before ? 1 : 0) + (1 - correlation) * p;
        next_passed[0] += here * (1 - loss);
        next_lost[row < run ? row + 1 : 0] += here * loss;
        if (row < run) share += here * loss;
      }
    }
    // Each iteration makes half a step: with complete steps, a chain that always loses would never
    // converge.
    for (size_t row = 0; row <= run; ++row) {
      passed[row] = (passed[row] + next_passed[row]) / 2;
      lost[row] = (lost[row] + next_lost[row]) / 2;
    }
  }
  return share;
}

TEST(LossModelTest, ARunLimitsTheLossesInARow) {
  struct Case {
    const char* value;
    double p, correlation;
    size_t run;
  };
  for (const auto& [value, p, correlation, run] :
       {Case{"30%:run=2", 0.3, 0, 2}, Case{"50%:run=1", 0.5, 0, 1}, Case{"90%:run=4", 0.9, 0, 4},
        Case{"20%:corr=60%,run=3", 0.2, 0.6, 3}, Case{"100%:run=4", 1, 0, 4}}) {
    SCOPED_TRACE(value);
    const double n = 1e6;
    const auto lost = Losses(value, static_cast<size_t>(n));
    size_t row = 0, longest = 0;
    for (const bool each : lost) {
      row = each ? row + 1 : 0;
      longest = std::max(longest, row);
    }
    EXPECT_EQ(longest, run);
    // The share is computed by the formula of docs/path-spec.md.
    const double a = correlation + (1 - correlation) * p, k = static_cast<double>(run);
    const double share = p < 1 ? p * (1 - std::pow(a, k)) / (1 - std::pow(a, k + 1)) : k / (k + 1);
    EXPECT_NEAR(share, ShareWithRun(p, correlation, run), 1e-4);
    EXPECT_NEAR(Count(lost), n * share,
                BinomialBound(n, share) * std::sqrt((1 + correlation) / (1 - correlation)) + 1);
  }
}

// With the same seed, `run` saves packets and does not lose additional packets.
TEST(LossModelTest, ARunOnlySavesPackets) {
  const auto without = Losses("40%:corr=30%", 100000), with = Losses("40%:corr=30%,run=2", 100000);
  size_t row = 0;
  for (size_t i = 0; i < with.size(); ++i) {
    ASSERT_EQ(with[i], without[i] && row < 2) << i;
    row = with[i] ? row + 1 : 0;
  }
}

TEST(LossModelTest, GilbertRunsAreGeometric) {
  const auto lost = Losses("gemodel:p=2%,r=25%", 2000000);
  ExpectRuns(lost, true, GeometricBins(0.75, 30));
  ExpectRuns(lost, false, GeometricBins(0.98, 400));
}

// Tests Elliott's extension, a loss probability in each state, against the stationary probabilities
// of the states.
TEST(LossModelTest, GilbertElliottLosesByState) {
  const double p = 0.02, r = 0.1, bad = 0.6, good = 0.01, n = 2e6;
  const auto lost = Losses("gemodel:p=2%,r=10%,1-h=60%,1-k=1%", static_cast<size_t>(n));
  const double share_bad = p / (p + r);
  const double mean = share_bad * bad + (1 - share_bad) * good;
  const double memory = 1 - p - r;
  const double variance = mean * (1 - mean) + 2 * share_bad * (1 - share_bad) * (bad - good) *
                                                  (bad - good) * memory / (1 - memory);
  EXPECT_NEAR(Count(lost), n * mean, test::kSigmas * std::sqrt(n * variance));
  // P(lost, lost) of two consecutive packets, by the states of the first and of the second packet.
  const double both = share_bad * bad * ((1 - r) * bad + r * good) +
                      (1 - share_bad) * good * (p * bad + (1 - p) * good);
  const auto [all, hit] = After(lost, true);
  EXPECT_NEAR(hit / all, both / mean, 2 * BinomialBound(all, both / mean) / all);
}

TEST(LossModelTest, GilbertElliottWithoutROrWithEverythingIsBernoulli) {
  const auto lost = Losses("gemodel:p=3%", 1000000);  // default of r: 1 - p
  const auto [all, hit] = After(lost, true);
  EXPECT_NEAR(hit, all * 0.03, BinomialBound(all, 0.03));
}

struct FourStates {
  double p13, p31, p32, p23, p14;
  // Returns the stationary probabilities of the states (by iteration).
  std::array<double, 5> Stationary() const {
    std::array<double, 5> s{0, 1, 0, 0, 0};
    for (int i = 0; i < 10000; ++i) {
      s = {0, s[1] * (1 - p13 - p14) + s[3] * p31 + s[4], s[2] * (1 - p23) + s[3] * p32,
           s[1] * p13 + s[2] * p23 + s[3] * (1 - p31 - p32), s[1] * p14};
    }
    return s;
  }
};

std::vector<double> Mix(double weight, std::vector<double> a, const std::vector<double>& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] = weight * a[i] + (1 - weight) * b[i];
  return a;
}

TEST(LossModelTest, FourStatesHaveTheRunsOfTheirChain) {
  const FourStates m{0.02, 0.3, 0.2, 0.25, 0.01};
  const auto lost = Losses("state:p13=2%,p31=30%,p32=20%,p23=25%,p14=1%", 3000000);
  const auto s = m.Stationary();
  // A run of losses is one packet in state 4, or lasts as long as the chain is in state 3. The
  // state of the first lost packet decides which.
  const double alone = s[1] * m.p14, burst = s[1] * m.p13 + s[2] * m.p23;
  const size_t bins = 20;
  ExpectRuns(
      lost, true,
      Mix(alone / (alone + burst), GeometricBins(0, bins), GeometricBins(1 - m.p31 - m.p32, bins)));
  // A run of received packets begins in state 1 or in state 2.
  const double gap = s[3] * m.p31 + s[4], inside = s[3] * m.p32;
  ExpectRuns(lost, false,
             Mix(gap / (gap + inside), GeometricBins(1 - m.p13 - m.p14, 300),
                 GeometricBins(1 - m.p23, 300)));
  const double mean = s[3] + s[4];
  EXPECT_NEAR(Count(lost) / 3e6, mean, 0.002);
}

std::vector<size_t> Numbers(const std::vector<bool>& lost) {
  std::vector<size_t> numbers;
  for (size_t i = 0; i < lost.size(); ++i) {
    if (lost[i]) numbers.push_back(i + 1);
  }
  return numbers;
}

TEST(LossModelTest, PeriodicListedAndTracedLossesAreExact) {
  using Expected = std::vector<size_t>;
  EXPECT_EQ(Numbers(Losses("periodic:every=4", 12)), (Expected{4, 8, 12}));
  EXPECT_EQ(Numbers(Losses("periodic:every=5,burst=2,first=2", 13)),
            (Expected{2, 3, 7, 8, 12, 13}));
  EXPECT_EQ(Numbers(Losses("periodic:every=3,burst=3,first=1", 5)), (Expected{1, 2, 3, 4, 5}));
  EXPECT_EQ(Numbers(Losses("list:1,3-5,9", 12)), (Expected{1, 3, 4, 5, 9}));
  EXPECT_EQ(Numbers(Losses("trace:x", 8, "011")), (Expected{2, 3, 5, 6, 8}));
}

TEST(LossModelTest, ACycleOfPackets) {
  using Expected = std::vector<size_t>;
  EXPECT_EQ(Numbers(Losses("cycle:pass=3,lose=2", 13)), (Expected{4, 5, 9, 10}));
  EXPECT_EQ(Numbers(Losses("cycle:3,2,1", 13)), (Expected{4, 5}));
  EXPECT_EQ(Numbers(Losses("cycle:3,2,2,0", 20)), (Expected{1, 2, 6, 7}));
  EXPECT_EQ(Numbers(Losses("cycle:pass=3,lose=1,first=6", 15)), (Expected{7, 11, 15}));
}

TEST(LossModelTest, AListIsRightFromAnyNumberOn) {
  LossModel model(ParseLoss("list:2,5-6,9"), PipelineOptions());
  RandomStream random(1, "");
  EXPECT_TRUE(model.Lose(Numbered(6), random));
  EXPECT_FALSE(model.Lose(Numbered(8), random));
  EXPECT_TRUE(model.Lose(Numbered(9), random));
  EXPECT_FALSE(model.Lose(Numbered(10), random));
}

// Returns for each of `count` packets, which arrive one per millisecond, the first at `offset`,
// whether it is lost.
std::vector<bool> LossesOverTime(std::string_view value, const char* name, size_t count,
                                 Duration offset = Duration()) {
  PipelineOptions options;
  options.name = name;
  options.pair = "pair";
  LossModel model(ParseLoss(value), options);
  model.Begin(Instant(), Instant());
  RandomStream random(1, name);
  std::vector<bool> lost;
  Packet packet;
  packet.arrived = Instant() + offset;
  for (; lost.size() < count; packet.arrived += Duration::Milliseconds(1)) {
    lost.push_back(model.Lose(packet, random));
  }
  return lost;
}

// The packets are numbered from 1 and arrive at 0 ms, 1 ms, 2 ms...
TEST(LossModelTest, ACycleOfTimes) {
  using Expected = std::vector<size_t>;
  const auto lost = [](const char* value, size_t count, Duration offset = Duration()) {
    return Numbers(LossesOverTime(value, "up", count, offset));
  };
  EXPECT_EQ(lost("cycle:pass=5ms,lose=2ms", 16), (Expected{6, 7, 13, 14}));
  EXPECT_EQ(lost("cycle:pass=5ms,lose=2ms,times=1", 16), (Expected{6, 7}));
  EXPECT_EQ(lost("cycle:pass=5ms,lose=2ms,first=0", 10), (Expected{1, 2, 8, 9}));
  EXPECT_EQ(lost("cycle:pass=5ms,lose=2ms,first=1ms,times=2", 20), (Expected{2, 3, 9, 10}));
  // With phases of packets and of time, a phase of time begins at the last packet of the phase
  // before.
  EXPECT_EQ(lost("cycle:pass=5ms,lose=3", 17), (Expected{6, 7, 8, 13, 14, 15}));
  EXPECT_EQ(lost("cycle:pass=3,lose=2ms", 14), (Expected{4, 8, 12}));
  // The first packet arrives after a million cycles without a packet, which the model skips at
  // once. With `times`, the packet arrives after the last cycle, so no packet is lost.
  const Duration idle = Duration::Milliseconds(7) * 1000000;
  EXPECT_EQ(lost("cycle:pass=5ms,lose=2ms", 9, idle), (Expected{6, 7}));
  EXPECT_EQ(lost("cycle:pass=5ms,lose=2ms,times=999999", 9, idle), Expected());
  EXPECT_EQ(lost("cycle:pass=1ns,lose=1ns,times=10", 2, Duration::Seconds(86400)), Expected());
}

// A process in continuous time that is sampled every millisecond is a Markov chain: the probability
// that the chain stays in a state includes leaving the state and returning between two samples.
TEST(LossModelTest, FadingStatesLastForExponentialTimes) {
  const double good = 300, bad = 20;  // ms
  const auto lost = LossesOverTime("fading:good=300ms,bad=20ms", "up", 4000000);
  const double memory = std::exp(-(1 / good + 1 / bad)), share = bad / (good + bad);
  ExpectRuns(lost, true, GeometricBins(share + (1 - share) * memory, 60));
  ExpectRuns(lost, false, GeometricBins((1 - share) + share * memory, 900));
  EXPECT_NEAR(Count(lost) / 4e6, share,
              test::kSigmas * std::sqrt(share * (1 - share) * 2 / (1 / good + 1 / bad) / 4e6));
}

double Agreement(const std::vector<bool>& a, const std::vector<bool>& b) {
  double both = 0;
  for (size_t i = 0; i < a.size(); ++i) both += a[i] && b[i] ? 1 : 0;
  return both / static_cast<double>(a.size());
}

TEST(LossModelTest, JointFadingIsTheSameInBothDirections) {
  const size_t n = 1000000;
  const char* const joint = "fading:good=300ms,bad=100ms,joint";
  EXPECT_EQ(LossesOverTime(joint, "up", n), LossesOverTime(joint, "down", n));
  const char* const half = "fading:good=300ms,bad=100ms,1-h=50%,joint";
  const auto up = LossesOverTime(half, "up", n), down = LossesOverTime(half, "down", n);
  EXPECT_NE(up, down) << "what is lost in the bad state is each direction's own";
  // Both directions lose a packet with probability 1/2 x 1/2 in the bad state, which lasts for a
  // quarter of the time.
  EXPECT_NEAR(Agreement(up, down), 0.25 * 0.25, 0.004);
  // At instants 50 ms apart, the states of the two directions often differ, because the
  // autocorrelation decays.
  const auto later = LossesOverTime(half, "down", n, Duration::Milliseconds(50));
  const double memory = std::exp(-50.0 * (1 / 300.0 + 1 / 100.0));
  EXPECT_NEAR(Agreement(up, later), 0.25 * 0.25 * (0.25 + 0.75 * memory), 0.004);
  const char* const apart = "fading:good=300ms,bad=100ms,1-h=50%";
  EXPECT_NEAR(Agreement(LossesOverTime(apart, "up", n), LossesOverTime(apart, "down", n)),
              0.125 * 0.125, 0.004);
}

// Each model sees every packet, including packets that another model loses.
TEST(LossModelTest, OfSeveralModelsEachSeesEveryPacket) {
  EXPECT_EQ(Numbers(Losses("periodic:4+periodic:6+list:4,11", 12)),
            (std::vector<size_t>{4, 6, 8, 11, 12}));
  const double n = 1e6, p = 1 - 0.98 * 0.95;
  const auto lost = Losses("2%+5%+periodic:1000000,1,5", static_cast<size_t>(n));
  EXPECT_NEAR(Count(lost), n * p, BinomialBound(n, p) + 1);
  EXPECT_TRUE(lost[4]);
  // If a model without memory is added to a model that loses packets in runs, losses still occur in
  // runs: among packets that follow a loss, the share of losses follows from the Markov chain of
  // the first model and the probability of the second model.
  const auto mixed = Losses("gemodel:2%,25%+3%", static_cast<size_t>(n));
  const double bad = 0.02 / 0.27, q = 0.03;
  EXPECT_NEAR(Count(mixed), n * (bad + (1 - bad) * q),
              test::kSigmas * std::sqrt(n * bad * (1 - bad) * 1.73 / 0.27) + BinomialBound(n, q));
  const auto [all, hit] = After(mixed, true);
  const double both = bad * (0.75 + 0.25 * q) + (1 - bad) * q * (0.02 + 0.98 * q);
  const double share = both / (bad + (1 - bad) * q);
  EXPECT_NEAR(hit / all, share, 2 * BinomialBound(all, share) / all);
}

}  // namespace
}  // namespace viaduct::path
