#include "run/machines/conductor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "run/machines/messages.h"

namespace viaduct::machines {
namespace {

using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::Pair;

// A line of four nodes: n0 and n1 on machine h1, n2 and n3 on machine h2.
const char kLine[] = R"(
mode: offload
machines: {h1: {address: 192.0.2.1}, h2: {address: 192.0.2.2}}
nodes: {n0: {on_machine: h1}, n1: {on_machine: h1}, n2: {on_machine: h2}, n3: {on_machine: h2}}
links: [{line: all}]
)";

class ConductorTest : public testing::Test {
 protected:
  ConductorTest() : scenario_(scenario::Parse(kLine, "line.yaml")) {
    conductor_.SetScenario(scenario_);
    conductor_.Take(0, Meet{"hello", "h1"});
    conductor_.Take(1, Meet{"hello", "h2"});
  }

  void SayRoutes(int rank, const Passages& passages, const NodePairs& unreachable = {},
                 bool late = false) {
    conductor_.Take(rank, Routes{{{.pairs = 6, .unreachable = unreachable}, late, passages}});
  }

  scenario::Scenario scenario_;
  std::vector<RankMessage> sent_;
  Conductor conductor_{2, [this](const RankMessage& message) { sent_.push_back(message); }};
};

TEST_F(ConductorTest, RoutesHaveConvergedWhenThoseOfAllHostsTogetherReach) {
  SayRoutes(0, {{"n1", {0, 1, 2, 2}}});
  EXPECT_THAT(sent_, IsEmpty()) << "the other machine has said nothing";
  SayRoutes(1, {}, {{"n2", "n0"}});
  EXPECT_THAT(sent_, IsEmpty());
  SayRoutes(1, {{"n2", {1, 1, 2, 3}}});
  ASSERT_EQ(sent_.size(), 1U);
  const scenario::Go& go = std::get<RoutesConverged>(sent_[0]).go;
  EXPECT_THAT(go.unreachable, IsEmpty());
  EXPECT_EQ(go.pairs, 12U) << "of both machines";
}

TEST_F(ConductorTest, EachHostsRoutesMayLeadOnAndStillNotArrive) {
  // For packets to n3, n1 and n2 are each other's next hop: neither machine alone can detect this
  // loop.
  const Passages h1 = {{"n0", {0, 2, 2, 2}}, {"n1", {0, 1, 2, 2}}};
  const Passages h2 = {{"n2", {1, 1, 2, 1}}, {"n3", {1, 1, 2, 3}}};
  SayRoutes(0, h1);
  SayRoutes(1, h2);
  EXPECT_THAT(sent_, IsEmpty());
  SayRoutes(0, h1, {}, true);
  EXPECT_THAT(sent_, IsEmpty()) << "the other machine still has time";
  SayRoutes(1, h2, {}, true);
  ASSERT_EQ(sent_.size(), 1U);
  const NodePairs& unreachable = std::get<RoutesConverged>(sent_[0]).go.unreachable;
  EXPECT_THAT(unreachable, ElementsAre(Pair("n0", "n3"), Pair("n1", "n3"), Pair("n2", "n3")));
}

TEST_F(ConductorTest, WhatHasNoPassageIsUnreachable) {
  EXPECT_THAT(Unreachable(scenario_, {{"n1", {0, 1, 2, 2}}}), ElementsAre(Pair("n1", "n3")));
  EXPECT_THAT(Unreachable(scenario_, {{"n1", {0, 1, 2}}, {"n2", {1, 1, 2, 3}}}),
              ElementsAre(Pair("n1", "n3")))
      << "too short a list";
  EXPECT_THAT(Unreachable(scenario_, {{"n1", {0, 1, 2, 9}}}), ElementsAre(Pair("n1", "n3")))
      << "there is no such node";
}

TEST_F(ConductorTest, AHostThatEndsVoidsTheRunAndIsNamed) {
  conductor_.Ended(1);
  ASSERT_TRUE(conductor_.failure());
  EXPECT_EQ(conductor_.failure()->status, static_cast<int>(ExitStatus::kVoid));
  EXPECT_THAT(conductor_.failure()->error, HasSubstr("machine h2"));
  EXPECT_TRUE(std::holds_alternative<Failed>(sent_.back()));
  EXPECT_FALSE(conductor_.Over());
  conductor_.Take(0, Bye());
  EXPECT_TRUE(conductor_.Over());
}

TEST_F(ConductorTest, AHostThatHasSaidByeMayEnd) {
  conductor_.Take(1, Bye());
  conductor_.Ended(1);
  EXPECT_FALSE(conductor_.failure());
}

TEST(Conductor, AHostThatEndsBeforeItHasBegunIsNoVoidRun) {
  Conductor conductor(2, [](const RankMessage&) {});
  conductor.Ended(1);
  ASSERT_TRUE(conductor.failure());
  EXPECT_EQ(conductor.failure()->status, static_cast<int>(ExitStatus::kEnvironment));
  EXPECT_THAT(conductor.failure()->error, HasSubstr("rank 1"));
}

TEST(Conductor, TwoRanksOnOneHostAreAnError) {
  Conductor conductor(2, [](const RankMessage&) {});
  conductor.Take(0, Meet{"hello", "h1"});
  conductor.Take(1, Meet{"hello", "h1"});
  ASSERT_TRUE(conductor.failure());
  EXPECT_THAT(conductor.failure()->error, HasSubstr("both on machine h1"));
}

}  // namespace
}  // namespace viaduct::machines
