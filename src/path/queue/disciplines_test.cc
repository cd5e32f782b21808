// Tests of every rate stage that a SPEC can specify, under random traffic.
#include "path/queue/disciplines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/random.h"
#include "base/wire/test/packet_builder.h"
#include "path/queue/make_rate_server.h"
#include "path/queue/test_queues.h"
#include "path/spec/spec.h"

namespace viaduct::path {
namespace {

using namespace test;
using testing::HasSubstr;
namespace p = wire::packet;

PipelineOptions Options(uint64_t seed) {
  PipelineOptions options;
  options.seed = seed;
  options.name = "test";
  options.read_file = [](const std::string& path) -> std::string {
    if (path == "mahimahi") return "1\n1\n2\n9\n";
    if (path == "series") return "0 10Mbit\n0.1 2Mbit\n0.2 0\n0.25 20Mbit\n0.3 repeat\n";
    throw UsageError(path + ": No such file or directory");
  };
  return options;
}

const char* const kRates[] = {"rate=10Mbit", "rate=10Mbit burst=20kB", "rate=10Mbit overhead=24B",
                              "rate=mahimahi:mahimahi", "rate=trace:series"};
const char* const kQueues[] = {
    "",
    "queue=20p",
    "queue=20kB drop=head",
    "queue=10ms",
    "aqm=codel",
    "aqm=codel:ecn,target=1ms,interval=10ms queue=100p",
    "aqm=pie",
    "aqm=pie:ecn,burst=1ms queue=50p",
    "aqm=red",
    "aqm=red:min=3kB,max=9kB,gentle,ecn queue=20kB",
    "aqm=fq_codel",
    "aqm=fq_codel:flows=4,noecn,target=1ms,interval=10ms queue=60p",
    "aqm=fq_pie",
    "aqm=fq_pie:flows=4,ecn,burst=1ms,target=1ms queue=60p",
    "aqm=dualpi2",
    "aqm=dualpi2:target=1ms,update=1ms,step=0,range=1ms,classic=50% queue=60p"};

// Bursts of packets of a few flows, some of them ECN-capable; a packet's number determines its
// flow.
struct Traffic {
  Traffic(const std::string& spec, uint64_t seed) : random(seed, "traffic") {
    const Spec parsed = ParseSpec(spec);
    path.emplace(MakeQueueDiscipline(parsed.queue, frames, Options(seed)),
                 MakeRateServer(parsed.link, Options(seed).read_file));
  }
  void Change(const std::string& spec) {
    const Spec parsed = ParseSpec(spec);
    path->ChangeQueue(MakeQueueDiscipline(parsed.queue, frames, Options(1)), now);
    path->ChangeLink(MakeRateServer(parsed.link, Options(1).read_file), now);
  }
  void Push() {
    if (random.Chance(0.3))
      now += Duration::Nanoseconds(static_cast<int64_t>(random.Below(8000000)));
    PopUntil(now);
    const auto flow = static_cast<uint16_t>(random.Below(6));
    const auto frame = frames.Add(
        p::Build(p::Ethernet{} / p::Ipv4{.tos = static_cast<uint8_t>(flow % 3)} /
                 p::Udp{.source = flow} / p::Payload{std::string(random.Below(1400), 'x')}));
    Packet packet = MakePacket(++number, static_cast<uint32_t>(frames.Bytes(frame).size()), frame);
    flows.push_back(flow);
    path->Push(packet, now, drops);
  }
  void PopUntil(Instant until) {
    while (const auto packet = path->Pop(until, drops)) {
      EXPECT_LE(packet->ready, until);
      EXPECT_GE(packet->ready, latest) << "packet " << packet->number;
      latest = packet->ready;
      EXPECT_GT(packet->number, last[flows[packet->number - 1]]) << "order in the flow";
      last[flows[packet->number - 1]] = packet->number;
      log.push_back({packet->number, packet->ready.nanoseconds(), packet->marked});
    }
  }
  struct Entry {
    uint64_t number;
    int64_t at;
    bool marked;
    friend bool operator==(const Entry&, const Entry&) = default;
  };
  RandomStream random;
  Frames frames;
  Drops drops;
  std::optional<Bottleneck> path;
  Instant now = At(1000), latest;
  uint64_t number = 0;
  std::vector<uint16_t> flows;
  std::map<uint16_t, uint64_t> last;
  std::vector<Entry> log;
};

class EveryBottleneck : public testing::TestWithParam<std::tuple<const char*, const char*>> {
 protected:
  std::string spec() const {
    return std::string(std::get<0>(GetParam())) + " " + std::get<1>(GetParam());
  }
};

TEST_P(EveryBottleneck, LosesNothingUncountedAndKeepsTheOrderOfFlows) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Traffic traffic(spec(), seed);
    for (int i = 0; i < 1000; ++i) {
      traffic.Push();
      ASSERT_EQ(traffic.number,
                traffic.log.size() + traffic.drops.all.size() + traffic.path->packets());
    }
    traffic.PopUntil(At(INT64_MAX - 1));
    EXPECT_EQ(traffic.number, traffic.log.size() + traffic.drops.all.size());
    EXPECT_EQ(traffic.path->packets(), 0u);
    EXPECT_EQ(traffic.path->bytes(), 0u);
    EXPECT_EQ(traffic.path->NextEvent(), Instant::Never());
    std::vector<uint64_t> all = traffic.drops.numbers();
    for (const auto& entry : traffic.log) all.push_back(entry.number);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(std::unique(all.begin(), all.end()), all.end()) << "a packet has two fates";
  }
}

TEST_P(EveryBottleneck, IsTheSameForTheSameSeed) {
  Traffic one(spec(), 7), two(spec(), 7);
  for (int i = 0; i < 1000; ++i) {
    one.Push();
    two.Push();
    // `one` is polled at every event, `two` only when a packet arrives.
    while (one.path->NextEvent() <= one.now + Duration::Milliseconds(1)) {
      const Instant next = one.path->NextEvent();
      if (next > two.now) break;
      one.PopUntil(next);
    }
  }
  one.PopUntil(AtMs(1000000));
  two.PopUntil(AtMs(1000000));
  EXPECT_EQ(one.log, two.log);
  EXPECT_EQ(one.drops.all, two.drops.all);
}

TEST_P(EveryBottleneck, ChangesInFlightLoseNothing) {
  Traffic traffic(spec(), 9);
  // After each change, the waiting packets leave in the order of the old discipline.
  for (const char* other : kQueues) {
    for (int i = 0; i < 50; ++i) traffic.Push();
    traffic.PopUntil(traffic.now);
    traffic.Change(std::string(kRates[traffic.random.Below(5)]) + " " + other);
  }
  traffic.PopUntil(At(INT64_MAX - 1));
  EXPECT_EQ(traffic.number, traffic.log.size() + traffic.drops.all.size());
  EXPECT_EQ(traffic.path->packets(), 0u);
}

INSTANTIATE_TEST_SUITE_P(All, EveryBottleneck,
                         testing::Combine(testing::ValuesIn(kRates), testing::ValuesIn(kQueues)));

TEST(MakeRateServer, NamesTheFileThatIsWrong) {
  const LinkSpec link = ParseSpec("rate=mahimahi:series").link;
  try {
    MakeRateServer(link, Options(1).read_file);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("series:1:"));
  }
  EXPECT_THROW(MakeRateServer(ParseSpec("rate=trace:none").link, Options(1).read_file), UsageError);
}

TEST(Disciplines, ANameThatIsNoneIsAnError) {
  Frames frames;
  EXPECT_THROW(ParseAqm("fifo"), UsageError);
  QueueSpec spec;
  spec.aqm = Aqm("fifo");
  EXPECT_THROW(MakeQueueDiscipline(spec, frames, {}), UsageError);
}

// The hand-written parts of the SPEC's reference name each discipline and its default limit.
TEST(Disciplines, TheReferenceKnowsEachAndItsLimit) {
  const std::string text = DocumentSpec();
  for (const Discipline& discipline : Disciplines()) {
    // A discipline without parameters has no list of them in brackets.
    const std::string name(discipline.name);
    EXPECT_THAT(text.find(name + "[`:") != std::string::npos ||
                    text.find("`" + name + "`") != std::string::npos,
                true)
        << name;
    EXPECT_THAT(text, HasSubstr("`" + FormatQueueSize(discipline.default_limit) + "`"));
  }
}

}  // namespace
}  // namespace viaduct::path
