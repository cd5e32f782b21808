#include "scenario/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace viaduct::scenario {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Scenario WithEvents(const std::string& events, const std::string& more = "",
                    const std::string& link = "{line: all, spec: delay=1ms}") {
  return Parse(
      "nodes: 3\nduration: 10s\nlinks: [" + link + "]\n" + more + "\nevents: [" + events + "]\n",
      "f.yaml");
}

std::string EventErrorOf(const std::string& events, const std::string& more = "",
                         const std::string& link = "{line: all, spec: delay=1ms}") {
  try {
    TryEvents(WithEvents(events, more, link));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(EventsTest, ChangesOfASpecAddUpInTheOrderOfTime) {
  const Scenario s = WithEvents(
      "{at: 80%, link: n0-n1, up: delay=none}, {at: 1s, link: n0-n1, set: rate=1Mbit loss=1%}, "
      "{at: 2s, link: n0-n1, down: rate=none, up: loss=2%}, {at: 3s, link: n1-n2, state: down}");
  std::vector<std::string> up, down, told;
  for (const LinkEvent& event : s.link_events) {
    up.push_back(path::FormatSpec(event.up_spec));
    down.push_back(path::FormatSpec(event.down_spec));
    told.push_back(DescribeEvent(event));
  }
  EXPECT_THAT(up, ElementsAre("delay=1ms loss=1% rate=1Mbit", "delay=1ms loss=2% rate=1Mbit", "",
                              "loss=2% rate=1Mbit"));
  EXPECT_THAT(down, ElementsAre("delay=1ms loss=1% rate=1Mbit", "delay=1ms loss=1%", "",
                                "delay=1ms loss=1%"));
  EXPECT_THAT(told, ElementsAre("rate=1Mbit loss=1%", "up loss=2% down rate=none", "down",
                                "up delay=none"));
  EXPECT_TRUE(ChangesSpec(s, "n0-n1"));
  EXPECT_FALSE(ChangesSpec(s, "n1-n2"));
}

TEST(EventsTest, ANatMovesToTheOtherDirectionAndBack) {
  const std::string moved = "{at: 1s, link: n0-n1, up: nat=none, down: nat=port}";
  const std::string back = "{at: 2s, link: n0-n1, up: nat=port, down: nat=none}";
  const std::string link = "{line: all, up: nat=port, down: delay=1ms}";
  EXPECT_EQ(EventErrorOf(moved + ", " + back, "", link), "");
  EXPECT_THAT(EventErrorOf(moved + ", {at: 2s, link: n0-n1, up: nat=port}", "", link),
              HasSubstr("the other direction already has NAT"));
}

TEST(EventsTest, CapturesMayBeStartedAndStoppedAnyNumberOfTimes) {
  const Scenario s = WithEvents(
      "{at: 1s, link: n0-n1, capture: stop}, {at: 2s, link: n0-n1, capture: start}, "
      "{at: 1s, link: n1-n2, capture: start}, {at: 1s, link: n1-n2, capture: stop}",
      "captures: [n0-n1]");
  EXPECT_THAT(CapturedLinks(s), ElementsAre("n0-n1", "n1-n2"));
  EXPECT_THAT(CapturedLinks(WithEvents("")), IsEmpty());
}

TEST(EventsTest, MistakesAreNamedBeforeAnythingStarts) {
  EXPECT_THAT(EventErrorOf("{at: 1s, link: n0-n1}"),
              HasSubstr("must have exactly one of: state; capture;"));
  EXPECT_THAT(EventErrorOf("{at: 1s, link: n0-n1, state: up, capture: start}"),
              HasSubstr("must have exactly one"));
  EXPECT_THAT(EventErrorOf("{at: 1s, link: n0-n1, set: dely=1ms}"),
              HasSubstr("f.yaml:5: events[0].set: "));
  EXPECT_THAT(EventErrorOf("{at: 1s, link: n0-n1, set: jitter=1ms dist=normal}, "
                           "{at: 2s, link: n0-n1, down: jitter=none dist=normal}"),
              HasSubstr("events[1].down: "))
      << "valid by itself, but not for the SPEC of that time";
  EXPECT_THAT(EventErrorOf("{at: 1s, link: n0-n1, set: loss=1%, up: loss=2%}"),
              HasSubstr("cannot be combined with set"));
  for (const char* empty : {"set: ''", "set: '  '", "up: '', down: loss=1%", "down: ''"}) {
    EXPECT_THAT(EventErrorOf(std::string("{at: 1s, link: n0-n1, ") + empty + "}"),
                HasSubstr("empty; list the keys that change"))
        << empty;
  }
  EXPECT_THAT(EventErrorOf("{at: 1s, link: n0-n1, set: ''}"), HasSubstr("f.yaml:5: events[0].set"));
  EXPECT_THAT(EventErrorOf("{at: 1s, link: lan0, up: loss=1%}", "", "{shared: all}"),
              HasSubstr("only a link of two nodes has directions"));
  EXPECT_THAT(EventErrorOf("{at: 1s, link: n0-n1, capture: stop}"),
              HasSubstr("is not captured at the time of this event"));
  EXPECT_THAT(EventErrorOf("{at: 1s, link: n0-n1, capture: start}", "captures: all"),
              HasSubstr("is already captured at the time of this event"));
  EXPECT_THAT(EventErrorOf("{at: 1s, link: n0-n1, set: delay=trace:/nowhere/trace}"),
              HasSubstr("/nowhere/trace"));
}

TEST(EventsTest, WhatCannotBeAppliedAtItsTimeIsRefusedBeforeAnythingStarts) {
  EXPECT_THAT(EventErrorOf("{at: 1s, link: n0-n1, set: link=air rate=1Mbit}"),
              HasSubstr("f.yaml:5: events[0].set: SPEC: link: cannot be changed"));
  EXPECT_THAT(EventErrorOf("{at: 1s, link: n0-n1, down: delay=trace:/nowhere/trace}"),
              HasSubstr("f.yaml:5: events[0].down: /nowhere/trace: cannot be read"));
  for (const char* mode : {"mode: offload", "mode: simulate"}) {
    const auto error_of = [&](const std::string& events) {
      return EventErrorOf(events, mode, "{line: all, up: rate=2Mbit link=air, down: link=air}");
    };
    EXPECT_THAT(error_of("{at: 1s, link: n1-n2, up: rate=1Mbit}"),
                HasSubstr("events[0].up: SPEC: link=air: another SPEC also sets the rate"))
        << mode << ": n0-n1 gives it, too";
    EXPECT_EQ(error_of("{at: 1s, link: n1-n2, set: delay=1ms}"), "") << mode;
  }
  const std::string one =
      "{pair: [n0, n1], up: rate=2Mbit link=air, down: link=air}, {pair: [n1, "
      "n2], spec: link=air}";
  const std::string none = "{at: 1s, link: n0-n1, up: rate=none}";
  EXPECT_EQ(EventErrorOf("{at: 1s, link: n0-n1, up: rate=1Mbit}", "", one), "");
  EXPECT_EQ(EventErrorOf(none, "", one), "");
  EXPECT_THAT(EventErrorOf(none, "mode: simulate", one),
              HasSubstr("events[0].up: SPEC: link=air: the link has no rate"));
}

TEST(EventsTest, ALinkThatIsSharedNeedsARate) {
  EXPECT_THAT(EventErrorOf("", "", "{line: all, spec: link=air}"),
              HasSubstr("SPEC: link=air: the link has no rate"));
  const std::string of_class = "classes: [{name: a, filter: udp, spec: link=air}]}";
  EXPECT_THAT(EventErrorOf("", "", "{line: all, " + of_class),
              HasSubstr("SPEC: link=air: the link has no rate"));
  EXPECT_EQ(EventErrorOf("", "", "{line: all, spec: rate=1Mbit link=air, " + of_class), "");
  EXPECT_THAT(EventErrorOf("", "mode: simulate",
                           "{pair: [n0, n1], up: rate=1Mbit link=a, down: rate=2Mbit link=a}, "
                           "{pair: [n1, n2]}"),
              HasSubstr("link n0-n1: SPEC: link=a: another SPEC also sets the rate"));
}

TEST(EventsTest, TheKernelsEmulatorIsRefusedWhereItWouldEmulate) {
  const std::string event = "{at: 1s, link: n0-n1, set: loss=1%}";
  EXPECT_THAT(EventErrorOf(event, "emulator: kernel"), HasSubstr("use emulator: engine"));
  EXPECT_EQ(EventErrorOf(event, "emulator: kernel\nmode: simulate"), "");
}

}  // namespace
}  // namespace viaduct::scenario
