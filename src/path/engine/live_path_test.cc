// Tests of changes of a running path and of the control protocol for changes, without an engine.
#include "path/engine/live_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "path/engine/control_protocol.h"
#include "path/engine/engine.h"
#include "path/spec/spec.h"

namespace viaduct::engine {
namespace {

using testing::HasSubstr;

template <class Work>
std::string Refusal(const Work& work) {
  try {
    work();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

// Records the changes that an engine would receive, in a readable form: "p/up delay=10ms".
class LivePathTest : public testing::Test {
 protected:
  LivePathTest()
      : live(
            TwoPairs(), [this](const Change& change) { Check(change); },
            [this](const Change& change) { Apply(change); }) {}

  static engine::Config TwoPairs() {
    Config config;
    config.ports = {"a", "b"};
    Pair p{"p", {0, 1, {}}, {1, 1, {}}, path::ParseSpec("delay=10ms"), {}, {}};
    p.classes.push_back({"dns", "udp port 53", {}, {}});
    Pair q{"q", {0, 2, {}}, {1, 2, {}}, {}, {}, {}};
    config.pairs = {p, q};
    return config;
  }

  void Check(const Change& change) const {
    if (change.spec == wrong) throw UsageError("a file cannot be read");
  }
  void Apply(const Change& change) {
    const std::string name = PipelineName(change.pair, change.class_name, change.direction);
    if (name == refused) throw UsageError("the engine does not like " + name);
    told += name + " " + path::FormatSpec(change.spec) + "\n";
  }
  std::string Told() { return std::exchange(told, ""); }

  std::string told, refused;
  path::Spec wrong = path::ParseSpec("dup=99%");
  LivePath live;
};

TEST_F(LivePathTest, ChangesOnlyWhatIsNamed) {
  live.Set({"p", "", true, false}, "loss=5%");
  EXPECT_EQ(Told(), "p/up delay=10ms loss=5%\n");
  live.Set({"p", "", true, true}, "delay=none");
  EXPECT_EQ(Told(), "p/up loss=5%\n") << "down had no delay";
  live.Set({"p", "dns", false, true}, "rate=1Mbit");
  EXPECT_EQ(Told(), "p/dns/down rate=1Mbit\n");
  live.Set({"*", "", false, true}, "dup=1%");
  EXPECT_EQ(Told(), "p/down dup=1%\nq/down dup=1%\n");
}

TEST_F(LivePathTest, ALinkComesBackAsItWas) {
  live.SetLink({"p", "", true, true}, false);
  EXPECT_EQ(Told(), "p/up delay=10ms loss=100%\np/down loss=100%\n");
  live.Set({"p", "", true, false}, "loss=1% delay=20ms");
  EXPECT_EQ(Told(), "p/up delay=20ms loss=100%\n") << "still down";
  live.SetLink({"p", "", true, true}, true);
  EXPECT_EQ(Told(), "p/up delay=20ms loss=1%\np/down \n");
}

TEST_F(LivePathTest, WhatIsRefusedChangesNothing) {
  EXPECT_THAT(Refusal([&] {
                live.Set({"r", "", true, true}, "delay=1ms");
              }),
              HasSubstr("no pair r; the pairs are p, q"));
  EXPECT_THAT(Refusal([&] {
                live.Set({"p", "web", true, true}, "delay=1ms");
              }),
              HasSubstr("no class web"));
  EXPECT_THAT(Refusal([&] { live.Set({"p", "", true, true}, "loss=120%"); }), HasSubstr("loss"));
  EXPECT_NE(
      Refusal([&] {
        live.Set({{{"p", "", true, false}, "delay=1ms"}, {{"p", "", false, true}, "jitter=1ms"}});
      }),
      "accepted");
  EXPECT_EQ(Told(), "") << "not even the half that could be";
  refused = "q/down";
  EXPECT_THAT(Refusal([&] { live.Set({"*", "", false, true}, "delay=1ms"); }), HasSubstr("q/down"));
  EXPECT_EQ(Told(), "p/down delay=1ms\np/down \n") << "taken back";
  refused = "";
  live.Set({"*", "", false, true}, "delay=1ms");
  EXPECT_EQ(Told(), "p/down delay=1ms\nq/down delay=1ms\n");
}

// A change of the NAT's id cannot be undone, because the NAT cannot restore the ports that it drew
// before. An error in a later change must therefore be found before the first change is made.
TEST_F(LivePathTest, WhatCanBeKnownBeforeIsRefusedBeforeTheFirstChange) {
  live.Set({"p", "", true, false}, "nat=port");
  Told();
  EXPECT_THAT(Refusal([&] {
                live.Set({{{"p", "", true, false}, "nat=port:id=2"},
                          {{"p", "", false, true}, "delay=none dup=99%"}});
              }),
              HasSubstr("cannot be read"));
  EXPECT_THAT(
      Refusal([&] {
        live.Set({{{"p", "", true, false}, "nat=port:id=2"}, {{"p", "", false, true}, "nat=port"}});
      }),
      HasSubstr("the other direction already has NAT"));
  EXPECT_EQ(Told(), "");
}

TEST_F(LivePathTest, ANatMovesToTheOtherDirectionAndBack) {
  live.Set({"p", "", true, false}, "nat=port");
  Told();
  const Target up{"p", "", true, false}, down{"p", "", false, true};
  live.Set({{up, "nat=none"}, {down, "nat=port"}});
  EXPECT_EQ(Told(), "p/up delay=10ms\np/down nat=port\n");
  live.Set({{up, "nat=port"}, {down, "nat=none"}});
  EXPECT_EQ(Told(), "p/down \np/up delay=10ms nat=port\n");
}

TEST(ControlProtocolTest, RequestsMeanWhatTheySay) {
  EXPECT_EQ(ParseRequest(R"({"request": "stats"})").kind, ControlRequest::Kind::kStats);
  const ControlRequest set = ParseRequest(
      R"({"request": "set", "pair": "p", "class": "dns", "up": "delay=1ms", "down": ""})");
  EXPECT_EQ(set.pair, "p");
  EXPECT_EQ(set.class_name, "dns");
  EXPECT_EQ(set.up, "delay=1ms");
  EXPECT_EQ(set.down, "");
  const auto refusal = [](const char* line) { return Refusal([&] { ParseRequest(line); }); };
  EXPECT_THAT(refusal("x"), HasSubstr("JSON object"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("JSON object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("\"request\" is missing"));
  EXPECT_THAT(refusal(R"({"request": "stop"})"), HasSubstr("unknown request \"stop\""));
  EXPECT_THAT(refusal(R"({"request": "stats", "up": "x"})"), HasSubstr("no members except"));
  EXPECT_THAT(refusal(R"({"request": "set", "pair": "p"})"), HasSubstr("specify \"up\""));
  EXPECT_THAT(refusal(R"({"request": "set", "up": 5})"), HasSubstr("\"up\" must be a string"));
  EXPECT_THAT(refusal(R"({"request": "set", "upp": "x"})"), HasSubstr("unknown member"));
}

TEST(ControlProtocolTest, RequestsOfHubs) {
  using Kind = ControlRequest::Kind;
  EXPECT_EQ(ParseRequest(R"({"request": "hub"})").kind, Kind::kHub);
  EXPECT_EQ(ParseRequest(R"({"request": "clients"})").kind, Kind::kClients);
  const ControlRequest claim =
      ParseRequest(R"({"request": "claim", "node": "n", "address": "2001:db8::1"})");
  EXPECT_EQ(claim.kind, Kind::kClaim);
  EXPECT_EQ(claim.node, "n");
  EXPECT_EQ(claim.address, "2001:db8::1");
  EXPECT_EQ(ParseRequest(EncodeRequest(claim).dump()).address, claim.address);
  EXPECT_EQ(ParseRequest(R"({"request": "release", "node": "n"})").kind, Kind::kRelease);
  const auto refusal = [](const char* line) { return Refusal([&] { ParseRequest(line); }); };
  EXPECT_THAT(refusal(R"({"request": "claim", "node": "n"})"), HasSubstr("\"address\" is missing"));
  EXPECT_THAT(refusal(R"({"request": "release"})"), HasSubstr("\"node\" is missing"));
  EXPECT_THAT(refusal(R"({"request": "set", "up": "", "node": "n"})"),
              HasSubstr("does not accept member"));
  EXPECT_THAT(refusal(R"({"request": "release", "node": "n", "up": ""})"),
              HasSubstr("does not accept member"));
}

TEST(ChangeTrialTest, RefusesWhatAnEngineWouldRefuseAfterTheChangesSoFar) {
  Config config;
  config.ports = {"a", "b"};
  Pair pair{"p", {0, {}, {}}, {1, {}, {}}, path::ParseSpec("rate=2Mbit link=air"), {}, {}};
  pair.down = path::ParseSpec("link=air");
  pair.classes.push_back({"dns", "udp port 53", path::ParseSpec("link=air"), {}});
  config.pairs = {pair};
  ChangeTrial trial(config);
  const auto refusal = [&](const std::string& class_name, Direction direction, const char* spec) {
    return Refusal([&] { trial.Apply({"p", class_name, direction, path::ParseSpec(spec)}); });
  };
  EXPECT_THAT(refusal("dns", Direction::kUp, "rate=1Mbit link=air"), HasSubstr("another SPEC"));
  EXPECT_THAT(refusal("dns", Direction::kDown, "link=air"), HasSubstr("link: cannot be changed"));
  EXPECT_THAT(refusal("web", Direction::kUp, ""), HasSubstr("no class web"));
  EXPECT_THAT(refusal("", Direction::kDown, "delay=trace:/nowhere link=air"),
              HasSubstr("/nowhere"));
  EXPECT_EQ(refusal("", Direction::kUp, "rate=1Mbit link=air"), "accepted");
  EXPECT_EQ(refusal("", Direction::kUp, "link=air"), "accepted");
  EXPECT_EQ(refusal("dns", Direction::kUp, "rate=1Mbit link=air"), "accepted")
      << "the only one now";
  config.pairs[0].up = path::ParseSpec("link=air");
  EXPECT_THAT(Refusal([&] { ChangeTrial none(config); }), HasSubstr("the link has no rate"));
}

}  // namespace
}  // namespace viaduct::engine
