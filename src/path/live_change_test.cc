// Tests, for each part of the SPEC, that a live change takes effect and does not affect other
// parts.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/wire/test/packet_builder.h"
#include "path/model/nat.h"
#include "path/test_pipeline.h"

namespace viaduct::path {
namespace {

using test::Bench;
using test::Outcome;
using test::Polling;
namespace p = wire::packet;

struct LiveChange {
  std::string key, base, change;
};

// The tested changes: at least one for each key, and one for each parameter of keys whose values
// have parameters.
const std::vector<LiveChange> kChanges = {
    {"delay", "delay=1ms", "delay=2ms"},
    {"delay", "delay=1ms", "delay=trace:delays"},
    {"jitter", "delay=5ms jitter=1ms", "jitter=4ms"},
    {"jitter", "delay=5ms jitter=1ms", "jitter=1ms:corr=90%"},
    {"dist", "delay=5ms jitter=1ms", "dist=normal"},
    {"order", "delay=5ms jitter=5ms", "order=keep"},
    {"loss", "loss=10%", "loss=60%"},
    {"loss", "loss=50%", "loss=50%:corr=90%"},
    {"loss", "loss=10%", "loss=gemodel:p=50%"},
    {"dup", "dup=10%", "dup=60%"},
    {"dup", "dup=50%", "dup=50%:corr=90%"},
    {"reorder", "delay=5ms reorder=10%", "reorder=60%"},
    {"reorder", "delay=5ms reorder=60%", "reorder=60%:gap=9"},
    {"reorder", "delay=5ms reorder=50%", "reorder=50%:corr=90%"},
    {"ber", "ber=1e-4", "ber=1e-2"},
    {"ber", "ber=1e-2", "ber=1e-2:header"},
    {"loss", "loss=fading:90ms,20ms", "loss=fading:90ms,20ms,joint"},
    {"loss", "loss=10%", "loss=10%+periodic:3"},
    {"loss", "loss=60%", "loss=60%:run=1"},
    {"loss", "loss=10%", "loss=cycle:pass=5ms,lose=2"},
    {"corrupt", "corrupt=10%", "corrupt=60%"},
    {"corrupt", "corrupt=50%", "corrupt=50%:corr=90%"},
    {"corrupt", "corrupt=50%", "corrupt=50%:header"},
    {"corrupt", "corrupt=50%", "corrupt=50%:checksum=fix"},
    {"nat", "delay=1ms", "nat=port"},
    {"nat", "nat=port", "nat=port:id=1"},
    {"nat", "nat=port", "nat=port:rebind=9ms"},
    {"nat", "nat=port:rebind=30ms", "nat=port:rebind=30ms,first=9ms"},
    {"fcs", "ber=1e-3", "fcs=drop"},
    {"slot", "slot=5ms", "slot=9ms"},
    {"slot", "slot=5ms", "slot=5ms:max=9ms"},
    {"slot", "slot=5ms", "slot=5ms:packets=2"},
    {"slot", "slot=5ms", "slot=5ms:bytes=1kB"},
    {"slot", "slot=5ms:jitter=1ms", "slot=5ms:jitter=1ms,dist=normal"},
    {"rate", "rate=8Mbit queue=1000p", "rate=4Mbit"},
    {"rate", "rate=8Mbit queue=1000p", "rate=trace:rates"},
    {"overhead", "rate=8Mbit queue=1000p", "overhead=1000B"},
    {"overhead", "rate=8Mbit queue=1000p", "overhead=0:atm"},
    {"burst", "rate=8Mbit queue=1000p", "burst=64kB"},
    {"queue", "rate=1Mbit queue=100p", "queue=2p"},
    {"drop", "rate=1Mbit queue=10p", "drop=head"},
    {"aqm", "rate=1Mbit aqm=codel", "aqm=codel:target=1ms,interval=2ms"},
    {"aqm", "rate=1Mbit aqm=codel:target=1ms,interval=2ms",
     "aqm=codel:target=1ms,interval=2ms,ecn"},
    {"aqm", "rate=1Mbit", "aqm=red"}};

std::string ReadLiveFile(const std::string& name) {
  return name == "delays" ? "3ms\n5ms\n" : "0 1Mbit\n0.01 9Mbit\n";
}

constexpr int kLivePackets = 400;
constexpr auto kLiveGap = Duration::Microseconds(500);

// The key that cannot be changed: a path uses a shared link from its start or never
// (shared_link_test.cc).
const char* const kFixed = "link";

// Sends ECN-capable packets, half a millisecond apart, and makes the change after half of them.
Outcome RunChange(const std::string& base, const std::string& change) {
  PipelineOptions options;
  options.read_file = ReadLiveFile;
  options.nat = std::make_shared<Nat>(7, "pair");
  Bench bench(base, 7, options);
  bench.Observe();
  for (int i = 1; i <= kLivePackets; ++i) {
    const Instant now = Instant() + kLiveGap * i;
    bench.Advance(now, Polling::kExact);
    if (i == kLivePackets / 2) {
      bench.pipeline().Change(ChangeSpec(bench.pipeline().spec(), change), now);
    }
    auto frame =
        p::Build(p::Ethernet{} / p::Ipv4{.tos = 2} / p::Udp{} / p::Payload{std::string(400, 'x')});
    const auto bytes = static_cast<uint32_t>(frame.size());
    bench.pipeline().Push(bench.frames().Add(std::move(frame)), bytes, now);
  }
  return bench.Finish(Polling::kExact);
}

// Returns whether the packets of two outcomes differ: numbers, instants, marks or bytes.
bool Differ(const Outcome& a, const Outcome& b) {
  const auto due = [](const Outcome& outcome) {
    std::vector<std::pair<uint64_t, Instant>> all;
    for (const Departure& departure : outcome.departures) {
      all.emplace_back(departure.number, departure.due);
    }
    return all;
  };
  return due(a) != due(b) || a.frames != b.frames || a.fates != b.fates;
}

TEST(LiveChangeTest, EveryKeyOfTheTableTakesEffect) {
  for (const SpecKey& key : SpecKeys()) {
    if (key.name == kFixed) continue;
    EXPECT_TRUE(std::any_of(kChanges.begin(), kChanges.end(),
                            [&](const LiveChange& change) { return change.key == key.name; }))
        << key.name << ": no change of it is tried here; add one to kChanges";
  }
  for (const auto& [key, base, change] : kChanges) {
    SCOPED_TRACE(base + ", then " + change);
    EXPECT_TRUE(change.starts_with(key + "="));
    EXPECT_TRUE(Differ(RunChange(base, ""), RunChange(base, change)));
  }
}

// After a key is set and then removed, the pipeline behaves as it did before the key was set.
TEST(LiveChangeTest, EveryKeyCanBeTakenAway) {
  for (const auto& [key, base, change] : kChanges) {
    SCOPED_TRACE(base + ", then " + change);
    const Spec changed = ChangeSpec(ParseSpec(base), change);
    if (key == "rate" || key == "delay") continue;  // other keys need rate and delay
    const Spec without = ChangeSpec(changed, key + "=none" + (key == "jitter" ? " dist=none" : ""));
    EXPECT_EQ(FormatSpec(without).find(key + "="), std::string::npos);
    EXPECT_NE(without, changed);
  }
}

// The stages that a change does not affect keep their state and their random numbers.
TEST(LiveChangeTest, OtherStagesGoOnAsTheyWere) {
  const std::string base = "loss=gemodel:p=10%,r=30% dup=20%:corr=50% ber=1e-3 delay=1ms";
  const auto drawn = [&](const std::string& change) {
    const Outcome outcome = RunChange(base, change);
    std::vector<std::tuple<uint64_t, bool, bool>> all;
    for (const test::Met& met : outcome.fates) {
      all.emplace_back(met.number, met.fate == Fate::kLost, met.corrupted);
    }
    std::sort(all.begin(), all.end());
    return all;
  };
  for (const char* change : {"delay=3ms", "delay=5ms jitter=1ms", "reorder=50%",
                             "rate=100Mbit queue=1000p", "rate=100Mbit aqm=codel"}) {
    EXPECT_EQ(drawn(change), drawn("")) << change;
  }
}

}  // namespace
}  // namespace viaduct::path
