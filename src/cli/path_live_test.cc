// Live changes, schedules and the control protocol, without an engine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "cli/path_schedule.h"
#include "engine/control_protocol.h"
#include "engine/live_path.h"
#include "path/spec/spec.h"

namespace viaduct::cli {
namespace {

using engine::Change, engine::ControlRequest, engine::Direction, engine::EncodeRequest,
    engine::LineBuffer, engine::LivePath, engine::ParseRequest, engine::Target;
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

// What an engine would be told, in a form that reads well: "p/up delay=10ms".
class LivePathTest : public testing::Test {
 protected:
  LivePathTest() : live(Config(), [this](const Change& change) { Apply(change); }) {}

  static engine::Config Config() {
    engine::Config config;
    config.ports = {"a", "b"};
    engine::Pair p{"p", {0, 1, {}}, {1, 1, {}}, path::ParseSpec("delay=10ms"), {}, {}};
    p.classes.push_back({"dns", "udp port 53", {}, {}});
    engine::Pair q{"q", {0, 2, {}}, {1, 2, {}}, {}, {}, {}};
    config.pairs = {p, q};
    return config;
  }

  void Apply(const Change& change) {
    const std::string name = PipelineName(change.pair, change.class_name, change.direction);
    if (name == refused) throw UsageError("the engine does not like " + name);
    told += name + " " + path::FormatSpec(change.spec) + "\n";
  }
  std::string Told() { return std::exchange(told, ""); }

  std::string told, refused;
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
              HasSubstr("no pair r; there are p, q"));
  EXPECT_THAT(Refusal([&] {
                live.Set({"p", "web", true, true}, "delay=1ms");
              }),
              HasSubstr("no class web"));
  EXPECT_THAT(Refusal([&] { live.Set({"p", "", true, true}, "loss=120%"); }), HasSubstr("loss"));
  const std::string up = "delay=1ms", wrong = "jitter=1ms";
  EXPECT_NE(Refusal([&] { live.Set("p", "", &up, &wrong); }), "accepted");
  EXPECT_EQ(Told(), "") << "not even the half that could be";
  refused = "q/down";
  EXPECT_THAT(Refusal([&] { live.Set({"*", "", false, true}, "delay=1ms"); }), HasSubstr("q/down"));
  EXPECT_EQ(Told(), "p/down delay=1ms\np/down \n") << "taken back";
  refused = "";
  live.Set({"*", "", false, true}, "delay=1ms");
  EXPECT_EQ(Told(), "p/down delay=1ms\nq/down delay=1ms\n");
}

TEST_F(LivePathTest, FollowsASchedule) {
  SchedulePlayer player(
      ParseSchedule("# a flap a second\n0s p up delay=5ms\n200ms p both down # flap\n\n"
                    "300ms p both up\nloop 1s\n",
                    "f"));
  std::string log;
  for (int i = 0; i < 5; ++i) {
    log += std::to_string(player.NextAt()->nanoseconds() / 1000000) + ": ";
    Perform(player.Take(), live);
    log += Told();
  }
  EXPECT_EQ(
      log,
      "0: p/up delay=5ms\n200: p/up delay=5ms loss=100%\np/down loss=100%\n"
      "300: p/up delay=5ms\np/down \n1000: 1200: p/up delay=5ms loss=100%\np/down loss=100%\n");
}

TEST(ScheduleTest, MistakesAreNamedWithTheirLine) {
  const auto refusal = [](const char* text) {
    return Refusal([&] { ParseSchedule(text, "file"); });
  };
  EXPECT_THAT(refusal(""), HasSubstr("file: no change"));
  EXPECT_THAT(refusal("\n2s p up delay=1ms\n1s p up delay=2ms\n"),
              HasSubstr("file:3: 1s comes after 2s"));
  EXPECT_THAT(refusal("1 p up delay=1ms"), HasSubstr("file:1: "));
  EXPECT_THAT(refusal("1s p sideways delay=1ms"), HasSubstr("up, down or both"));
  EXPECT_THAT(refusal("1s p up"), HasSubstr("a line is"));
  EXPECT_THAT(refusal("1s p up loss=120%"), HasSubstr("loss"));
  EXPECT_THAT(refusal("loop 1s"), HasSubstr("nothing to loop over"));
  EXPECT_THAT(refusal("1s p up down\nloop 500ms"), HasSubstr("longer than"));
  EXPECT_THAT(refusal("0s p up down\nloop 0s"), HasSubstr("longer than"));
  EXPECT_THAT(refusal("1s p up down\nloop 2s\n3s p up up"), HasSubstr("nothing may follow"));
}

TEST(PathProtocolTest, RequestsMeanWhatTheySay) {
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
  EXPECT_THAT(refusal(R"({"request": "stats", "up": "x"})"), HasSubstr("nothing else"));
  EXPECT_THAT(refusal(R"({"request": "set", "pair": "p"})"), HasSubstr("give \"up\""));
  EXPECT_THAT(refusal(R"({"request": "set", "up": 5})"), HasSubstr("\"up\" must be a string"));
  EXPECT_THAT(refusal(R"({"request": "set", "upp": "x"})"), HasSubstr("unknown member"));
}

TEST(PathProtocolTest, LinesAreCutAndNeverTooLong) {
  LineBuffer lines(5);
  EXPECT_TRUE(lines.Add("ab"));
  EXPECT_FALSE(lines.Next());
  EXPECT_TRUE(lines.Add("c\nde"));
  EXPECT_EQ(lines.Next(), "abc");
  EXPECT_FALSE(lines.Next());
  EXPECT_TRUE(lines.Add("fgh"));
  EXPECT_FALSE(lines.Add("i\n")) << "six bytes";
}

}  // namespace
}  // namespace viaduct::cli
