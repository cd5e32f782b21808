#include "path/live/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "path/engine/live_path.h"
#include "path/spec/spec.h"

namespace viaduct::path {
namespace {

using testing::HasSubstr;

TEST(ScheduleTest, MakesItsChangesAgainInEveryLoop) {
  engine::Config config;
  config.pairs = {{"p", {0, {}, {}}, {1, {}, {}}, {}, {}, {}}};
  std::string log;
  engine::LivePath live(
      config, [](const engine::Change&) {},
      [&](const engine::Change& change) {
        log += PipelineName(change.pair, change.class_name, change.direction) + " " +
               path::FormatSpec(change.spec) + "\n";
      });
  SchedulePlayer player(
      ParseSchedule("# a flap a second\n0s p up delay=5ms\n200ms p both down # flap\n\n"
                    "300ms p both up\nloop 1s\n",
                    "f"));
  for (int i = 0; i < 5; ++i) {
    log += std::to_string(player.NextAt()->nanoseconds() / 1000000) + ": ";
    Perform(player.Take(), live);
  }
  EXPECT_EQ(
      log,
      "0: p/up delay=5ms\n200: p/up delay=5ms loss=100%\np/down loss=100%\n"
      "300: p/up delay=5ms\np/down \n1000: 1200: p/up delay=5ms loss=100%\np/down loss=100%\n");
}

TEST(ScheduleTest, MistakesAreNamedWithTheirLine) {
  const auto refusal = [](const char* text) {
    try {
      ParseSchedule(text, "file");
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(refusal(""), HasSubstr("file: contains no changes"));
  EXPECT_THAT(refusal("\n2s p up delay=1ms\n1s p up delay=2ms\n"),
              HasSubstr("file:3: 1s follows 2s"));
  EXPECT_THAT(refusal("1 p up delay=1ms"), HasSubstr("file:1: "));
  EXPECT_THAT(refusal("1s p sideways delay=1ms"), HasSubstr("up, down or both"));
  EXPECT_THAT(refusal("1s p up"), HasSubstr("the line is incomplete"));
  EXPECT_THAT(refusal("loop 1s"), HasSubstr("no changes to repeat"));
  EXPECT_THAT(refusal("1s p up down\nloop 500ms"),
              HasSubstr("must not end before the last change, at 1s"));
  for (const char* period : {"0ns", "1ns", "1us", "999us"}) {
    EXPECT_THAT(refusal((std::string("0s p up down\nloop ") + period).c_str()),
                HasSubstr(std::string("file:2: a loop of ") + period +
                          " is too short; the period must be at least 1ms"));
  }
  EXPECT_EQ(refusal("0s p up down\nloop 1ms"), "accepted");
  EXPECT_THAT(refusal("1s p up down\nloop 2s\n3s p up up"), HasSubstr("no line may follow"));
}

}  // namespace
}  // namespace viaduct::path
