#include "run/machines/conductor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "run/machines/messages.h"

namespace viaduct::hosts {
namespace {

using nlohmann::json;
using testing::ElementsAre, testing::HasSubstr, testing::IsEmpty, testing::Pair;

// n0 and n1 on h1, n2 and n3 on h2, in a line.
const char kLine[] = R"(
mode: offload
hosts: {h1: {address: 192.0.2.1}, h2: {address: 192.0.2.2}}
nodes: {n0: {on_host: h1}, n1: {on_host: h1}, n2: {on_host: h2}, n3: {on_host: h2}}
links: [{line: all}]
)";

class ConductorTest : public testing::Test {
 protected:
  ConductorTest() : scenario_(scenario::Parse(kLine, "line.yaml")) {
    conductor_.SetScenario(scenario_);
    conductor_.Take(0, {{"type", kMeet}, {"stage", "hello"}, {"host", "h1"}});
    conductor_.Take(1, {{"type", kMeet}, {"stage", "hello"}, {"host", "h2"}});
  }

  void SayRoutes(int rank, const json& passages, const json& unreachable, bool late = false) {
    conductor_.Take(
        rank,
        {{"type", kRoutes},
         {"passages",
          {{"passages", passages}, {"pairs", 6}, {"unreachable", unreachable}, {"late", late}}}});
  }

  scenario::Scenario scenario_;
  std::vector<json> sent_;
  Conductor conductor_{2, [this](const json& message) { sent_.push_back(message); }};
};

TEST_F(ConductorTest, RoutesHaveConvergedWhenThoseOfAllHostsTogetherReach) {
  SayRoutes(0, {{"n1", {0, 1, 2, 2}}}, json::array());
  EXPECT_THAT(sent_, IsEmpty()) << "the other host has said nothing";
  SayRoutes(1, json::object(), {{"n2", "n0"}});
  EXPECT_THAT(sent_, IsEmpty());
  SayRoutes(1, {{"n2", {1, 1, 2, 3}}}, json::array());
  ASSERT_EQ(sent_.size(), 1U);
  EXPECT_EQ(sent_[0]["type"], kConverged);
  EXPECT_EQ(sent_[0]["unreachable"], json::array());
  EXPECT_EQ(sent_[0]["pairs"], 12) << "of both hosts";
}

TEST_F(ConductorTest, EachHostsRoutesMayLeadOnAndStillNotArrive) {
  // For n3 each of n1 and n2 takes the other for the next hop: no host sees that it is a loop.
  const json h1 = {{"n0", {0, 2, 2, 2}}, {"n1", {0, 1, 2, 2}}};
  const json h2 = {{"n2", {1, 1, 2, 1}}, {"n3", {1, 1, 2, 3}}};
  SayRoutes(0, h1, json::array());
  SayRoutes(1, h2, json::array());
  EXPECT_THAT(sent_, IsEmpty());
  SayRoutes(0, h1, json::array(), true);
  EXPECT_THAT(sent_, IsEmpty()) << "the other host still has time";
  SayRoutes(1, h2, json::array(), true);
  ASSERT_EQ(sent_.size(), 1U);
  const auto unreachable = sent_[0]["unreachable"].get<NodePairs>();
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
  EXPECT_THAT(conductor_.failure()->error, HasSubstr("host h2"));
  EXPECT_EQ(sent_.back()["type"], kFailed);
  EXPECT_FALSE(conductor_.Over());
  conductor_.Take(0, {{"type", kBye}});
  EXPECT_TRUE(conductor_.Over());
}

TEST_F(ConductorTest, AHostThatHasSaidByeMayEnd) {
  conductor_.Take(1, {{"type", kBye}});
  conductor_.Ended(1);
  EXPECT_FALSE(conductor_.failure());
}

TEST(Conductor, AHostThatEndsBeforeItHasBegunIsNoVoidRun) {
  Conductor conductor(2, [](const json&) {});
  conductor.Ended(1);
  ASSERT_TRUE(conductor.failure());
  EXPECT_EQ(conductor.failure()->status, static_cast<int>(ExitStatus::kEnvironment));
  EXPECT_THAT(conductor.failure()->error, HasSubstr("rank 1"));
}

TEST(Conductor, TwoRanksOnOneHostAreAnError) {
  Conductor conductor(2, [](const json&) {});
  conductor.Take(0, {{"type", kMeet}, {"stage", "hello"}, {"host", "h1"}});
  conductor.Take(1, {{"type", kMeet}, {"stage", "hello"}, {"host", "h1"}});
  ASSERT_TRUE(conductor.failure());
  EXPECT_THAT(conductor.failure()->error, HasSubstr("both on host h1"));
}

}  // namespace
}  // namespace viaduct::hosts
