// Properties that hold for every SPEC and every traffic, tested with random SPECs over many seeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "path/test_pipeline.h"

namespace viaduct::path {
namespace {

using test::Arrival;
using test::Bench;
using test::Outcome;
using test::Polling;

const std::vector<std::vector<std::string>> kWords = {
    {"", "loss=20%", "loss=5%:corr=50%", "loss=gemodel:p=5%,r=30%,1-h=80%,1-k=1%",
     "loss=state:p13=5%,p31=50%,p32=30%,p23=30%,p14=2%", "loss=periodic:every=7,burst=2",
     "loss=list:1,5-9,40", "loss=trace:losses", "loss=fading:good=3ms,bad=500us",
     "loss=2%+gemodel:5%,30%+list:3+trace:losses"},
    {"", "ber=1e-4", "ber=1e-3:header"},
    {"", "", "corrupt=20%", "corrupt=20%:corr=50%,header"},
    {"", "fcs=drop"},
    {"", "", "slot=1ms", "slot=500us:max=2ms,packets=4", "slot=0:max=1ms,bytes=3kB",
     "slot=1ms:jitter=1ms,dist=normal,packets=9"},
    {"", "dup=20%", "dup=100%", "dup=10%:corr=50%"},
    {"", "", "rate=8Mbit", "rate=8Mbit queue=3p", "rate=20Mbit queue=2kB drop=head",
     "rate=8Mbit queue=1ms", "rate=8Mbit burst=3kB overhead=24B", "rate=8Mbit aqm=codel:target=1ms",
     "rate=8Mbit overhead=pppoe-llcsnap queue=3ms drop=head", "rate=8Mbit overhead=-14B queue=1ms",
     "rate=8Mbit aqm=pie", "rate=8Mbit aqm=red", "rate=8Mbit aqm=fq_codel", "rate=8Mbit aqm=fq_pie",
     "rate=8Mbit aqm=dualpi2:target=1ms", "rate=trace:rates", "rate=mahimahi:chances"},
    {"", "delay=1ms", "delay=1ms order=keep", "delay=1ms reorder=20%",
     "delay=1ms reorder=50%:gap=3", "delay=1ms jitter=900us", "delay=1ms jitter=1ms dist=normal",
     "delay=100us jitter=1ms order=free", "delay=1ms jitter=300us:corr=80% dist=pareto",
     "delay=1ms jitter=1ms dist=paretonormal order=keep", "delay=trace:delays",
     "delay=trace:delays jitter=100us order=free reorder=5%", "delay=trace:changes",
     "delay=1ms jitter=1ms dist=table.dist"}};

std::string ReadFile(const std::string& name) {
  if (name == "losses") return "0001100000001\n";
  if (name == "rates") return "0 8Mbit\n0.001 0\n0.002 30Mbit\n0.005 repeat\n";
  if (name == "chances") return "1\n1\n2\n4\n";
  if (name == "delays") return "1ms\n3ms\n0\n100us\n";
  if (name == "changes") return "0 3ms\n0.002 1ms\n0.004 repeat\n";
  return "-8192 -100 0 100 8192 16384\n";
}

PipelineOptions Options() {
  PipelineOptions options;
  options.name = "test";
  options.read_file = ReadFile;
  return options;
}

std::string RandomSpec(RandomStream& random) {
  std::string spec;
  for (const auto& words : kWords) spec += words[random.Below(words.size())] + " ";
  return spec;
}

// Returns random arrivals: bursts, pauses, and packets that arrive at one instant.
std::vector<Arrival> RandomArrivals(RandomStream& random) {
  std::vector<Arrival> arrivals;
  Instant at;
  for (int i = 0; i < 200; ++i) {
    const uint64_t longest = random.Chance(0.05) ? 20000000 : random.Chance(0.3) ? 1 : 300000;
    at += Duration::Nanoseconds(static_cast<int64_t>(random.Below(longest)));
    arrivals.push_back({at, static_cast<uint32_t>(60 + random.Below(1455))});
  }
  return arrivals;
}

struct Change {
  size_t before;  // index of the arrival before which the SPEC changes
  std::string spec;
};

struct Case {
  std::string spec;
  std::vector<Arrival> arrivals;
  std::vector<Change> changes;
};

Case RandomCase(uint64_t seed, bool changing) {
  RandomStream random(seed, "case");
  Case result{RandomSpec(random), RandomArrivals(random), {}};
  for (size_t i = 0; changing && i < 5; ++i) {
    result.changes.push_back({20 + i * 30 + random.Below(30), RandomSpec(random)});
  }
  return result;
}

std::string Describe(const Case& c, uint64_t seed) {
  std::string text = "seed " + std::to_string(seed) + ": " + c.spec;
  for (const Change& change : c.changes) {
    text += "\n  before arrival " + std::to_string(change.before) + ": " + change.spec;
  }
  return text;
}

Outcome RunCase(const Case& c, uint64_t seed, Polling polling, bool observed) {
  Bench bench(c.spec, seed, Options());
  if (observed) bench.Observe();
  size_t next = 0;
  for (size_t i = 0; i < c.arrivals.size(); ++i) {
    bench.Advance(c.arrivals[i].at, polling);
    while (next < c.changes.size() && c.changes[next].before <= i) {
      bench.pipeline().Change(ParseSpec(c.changes[next++].spec), c.arrivals[i].at);
    }
    bench.Push(c.arrivals[i].bytes, c.arrivals[i].at);
  }
  Outcome outcome = bench.Finish(polling);
  EXPECT_EQ(bench.pipeline().waiting(), 0U) << Describe(c, seed);
  EXPECT_EQ(bench.pipeline().waiting_bytes(), 0U) << Describe(c, seed);
  EXPECT_EQ(bench.pipeline().NextEvent(), Instant::Never()) << Describe(c, seed);
  EXPECT_EQ(bench.frames().count(), 0U) << Describe(c, seed);
  return outcome;
}

bool Same(const Counters& a, const Counters& b) {
  return a.arrived == b.arrived && a.arrived_bytes == b.arrived_bytes &&
         a.duplicated == b.duplicated && a.fates == b.fates &&
         a.delivered_bytes == b.delivered_bytes && a.corrupted == b.corrupted &&
         a.flipped_bits == b.flipped_bits && a.marked == b.marked && a.reordered == b.reordered;
}

bool Same(const Outcome& a, const Outcome& b) {
  const auto equal = [](const Departure& x, const Departure& y) {
    return x.number == y.number && x.due == y.due && x.bytes == y.bytes;
  };
  return std::equal(a.departures.begin(), a.departures.end(), b.departures.begin(),
                    b.departures.end(), equal) &&
         a.frames == b.frames && Same(a.counters, b.counters) && a.fates == b.fates;
}

// AddressSanitizer makes each case take about five times as long.
#ifdef __SANITIZE_ADDRESS__
constexpr uint64_t kSeeds = 80;
#else
constexpr uint64_t kSeeds = 400;
#endif

// The parameter of the tests: whether the SPEC changes while packets are sent.
class PipelineProperty : public testing::TestWithParam<bool> {};

// Each packet that arrived or was created has one fate, and each packet that is counted as
// delivered has left the pipeline.
TEST_P(PipelineProperty, NoPacketIsCreatedOrLostOutsideACountedCause) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Case c = RandomCase(seed, GetParam());
    const Outcome outcome = RunCase(c, seed, Polling::kExact, false);
    const Counters& counters = outcome.counters;
    uint64_t fates = 0, bytes = 0;
    for (const uint64_t count : counters.fates) fates += count;
    for (const Departure& departure : outcome.departures) bytes += departure.bytes;
    ASSERT_EQ(counters.arrived, c.arrivals.size());
    ASSERT_EQ(counters.arrived + counters.duplicated, fates) << Describe(c, seed);
    ASSERT_EQ(counters.of(Fate::kDelivered), outcome.departures.size()) << Describe(c, seed);
    ASSERT_EQ(counters.delivered_bytes, bytes) << Describe(c, seed);
    ASSERT_EQ(counters.of(Fate::kNoMemory) + counters.of(Fate::kDiskBehind), 0U);
  }
}

TEST_P(PipelineProperty, TheCallersClockDoesNotMatter) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Case c = RandomCase(seed, GetParam());
    for (const bool observed : {false, true}) {
      const Outcome exact = RunCase(c, seed, Polling::kExact, observed);
      ASSERT_TRUE(Same(exact, RunCase(c, seed, Polling::kLate, observed))) << Describe(c, seed);
      ASSERT_TRUE(Same(exact, RunCase(c, seed, Polling::kRandom, observed))) << Describe(c, seed);
    }
  }
}

TEST_P(PipelineProperty, AnObserverSeesEveryFateInTheOrderOfTimeAndChangesNothing) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Case c = RandomCase(seed, GetParam());
    Outcome seen = RunCase(c, seed, Polling::kRandom, true);
    std::array<uint64_t, static_cast<size_t>(Fate::kCount)> fates{};
    Instant before;
    for (const test::Met& met : seen.fates) {
      ++fates[static_cast<size_t>(met.fate)];
      ASSERT_GE(met.at, before) << Describe(c, seed);
      before = met.at;
    }
    ASSERT_EQ(fates, seen.counters.fates) << Describe(c, seed);
    seen.fates.clear();
    ASSERT_TRUE(Same(seen, RunCase(c, seed, Polling::kRandom, false))) << Describe(c, seed);
  }
}

TEST_P(PipelineProperty, DeparturesAreInTheOrderOfTimeAndNoneIsEarly) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Case c = RandomCase(seed, GetParam());
    Instant before;
    for (const Departure& departure : RunCase(c, seed, Polling::kExact, false).departures) {
      ASSERT_GE(departure.due, before) << Describe(c, seed);
      ASSERT_GE(departure.due, c.arrivals[departure.number - 1].at) << Describe(c, seed);
      before = departure.due;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Specs, PipelineProperty, testing::Bool(), [](const auto& changing) {
  return changing.param ? "Changing" : "Fixed";
});

TEST(PipelinePropertyTest, OrderIsFirstInFirstOutWhereItIsKept) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    const Case c = RandomCase(seed, false);
    const Spec spec = ParseSpec(c.spec);
    if (spec.delay.order != Order::kKeep ||
        (spec.queue.aqm && spec.queue.aqm->name.starts_with("fq_")))
      continue;
    uint64_t before = 0;
    for (const Departure& departure : RunCase(c, seed, Polling::kExact, false).departures) {
      ASSERT_GE(departure.number, before) << Describe(c, seed);
      before = departure.number;
    }
  }
}

// Equal seeds give equal results, different seeds different results.
TEST(PipelinePropertyTest, TheSeedDecides) {
  int different = 0;
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const Case c = RandomCase(seed, true);
    const Outcome first = RunCase(c, seed, Polling::kExact, true);
    EXPECT_TRUE(Same(first, RunCase(c, seed, Polling::kExact, true)));
    different += Same(first, RunCase(c, seed + 1000, Polling::kExact, true)) ? 0 : 1;
  }
  EXPECT_GT(different, 40);
}

}  // namespace
}  // namespace viaduct::path
