#include "run/machines/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace viaduct::machines {
namespace {

using testing::ElementsAre, testing::Contains;

const char kTwoHosts[] = R"(
mode: offload
machines: {h1: {address: 192.0.2.1}, h2: {address: 192.0.2.2}}
nodes: {a: {on_machine: h1}, b: {on_machine: h2}}
links: [{pair: [a, b], spec: delay=1ms}]
flows: [{type: udp, from: a, to: b, rate: 1Mbit}, {type: ping, from: a, to: b}]
timing: {lateness_limit: 1ms}
)";

result::Timing TimingOf(uint64_t events, int64_t p99_ns) {
  result::Timing timing;
  timing.events = events;
  timing.p99_ns = p99_ns;
  return timing;
}

class MergeTest : public testing::Test {
 protected:
  MergeTest() : scenario_(scenario::Parse(kTwoHosts, "two.yaml")) {
    for (const char* machine : {"h1", "h2"}) {
      PartResult& part = parts_.emplace_back();
      part.machine = machine;
      part.result.scenario.mode = "offload";
      part.result.flows.resize(2);
      part.result.engine.emplace();
      for (const char* direction : {"up", "down"}) {
        result::PipelineResult& pipeline = part.result.engine->pipelines.emplace_back();
        pipeline.pair = scenario_.links[0].name;
        pipeline.direction = direction;
      }
    }
  }

  scenario::Scenario scenario_;
  std::vector<PartResult> parts_;
};

TEST_F(MergeTest, EachFlowIsThatOfTheHostThatMeasuresIt) {
  parts_[0].result.flows[0].sent = 1;
  parts_[1].result.flows[0].sent = 2;  // a UDP flow: the receiver's machine measures
  parts_[0].result.flows[1].sent = 3;  // a ping flow: the sender's machine measures
  const result::RunResult all = Merge(scenario_, parts_);
  EXPECT_EQ(all.flows[0].sent, 2);
  EXPECT_EQ(all.flows[1].sent, 3);
}

TEST_F(MergeTest, TheWorstTimingVoidsTheRunWhereverItWas) {
  for (PartResult& part : parts_) part.result.simulator.timing = TimingOf(100, 1000);
  EXPECT_EQ(Merge(scenario_, parts_).verdict, result::Verdict::kValid);
  parts_[1].result.simulator.timing->p99_ns = 2000000;
  const result::RunResult all = Merge(scenario_, parts_);
  EXPECT_EQ(all.verdict, result::Verdict::kVoid);
  EXPECT_EQ(all.simulator.timing->events, 200);
  EXPECT_EQ(all.status, 4);
}

TEST_F(MergeTest, ManyPacketsOfOneHostDoNotHideWhatAnotherHasLost) {
  for (PartResult& part : parts_) {
    part.result.engine->timing = TimingOf(1000000, 1000);
    part.result.Judge(scenario_.lateness_limit);
  }
  parts_[1].result.engine->timing = TimingOf(100, 1000);
  parts_[1].result.engine->timing.lost = 50;
  parts_[1].result.Judge(scenario_.lateness_limit);
  const result::RunResult all = Merge(scenario_, parts_);
  EXPECT_EQ(all.verdict, result::Verdict::kVoid);
  EXPECT_EQ(all.engine->verdict, result::Verdict::kVoid);
  EXPECT_EQ(all.status, 4);
}

TEST_F(MergeTest, WhatOnlyALaterHostReportsIsNotForgotten) {
  parts_[1].result.simulator.route_polls = {.polls = 7, .interval = 2};
  parts_[1].result.simulator.route_pushes = {.refused = 3};
  const result::RunResult all = Merge(scenario_, parts_);
  ASSERT_TRUE(all.simulator.route_polls && all.simulator.route_pushes);
  EXPECT_TRUE(all.simulator.route_polls->IsVoid());
  EXPECT_EQ(all.simulator.route_pushes->refused, 3u);
}

TEST_F(MergeTest, WhatFailedOnOneHostIsNotValid) {
  for (PartResult& part : parts_) part.result.simulator.timing = TimingOf(100, 1000);
  parts_[0].result.failures = {"the forwarder died 1 times and was replaced"};
  for (PartResult& part : parts_) part.result.Judge(scenario_.lateness_limit);
  const result::RunResult all = Merge(scenario_, parts_);
  EXPECT_EQ(all.verdict, result::Verdict::kNotJudged);
  EXPECT_EQ(all.status, 1);
}

TEST_F(MergeTest, WhatNothingMeasuredIsNotJudged) {
  const result::RunResult all = Merge(scenario_, parts_);
  EXPECT_EQ(all.verdict, result::Verdict::kNotJudged);
  EXPECT_THAT(all.not_judged, Contains("the network between the machines"));
}

TEST_F(MergeTest, ADirectionOfALinkBetweenHostsIsThatOfItsSendersHost) {
  parts_[0].result.engine->pipelines[0].arrived = 5;  // direction up: node a sends
  parts_[1].result.engine->pipelines[1].arrived = 7;
  parts_[1].result.engine->pipelines[0].arrived = 5;  // packets that machine 0 has counted, too
  const result::RunResult all = Merge(scenario_, parts_);
  ASSERT_EQ(all.engine->pipelines.size(), 2U);
  EXPECT_EQ(all.engine->pipelines[0].arrived, 5U);
  EXPECT_EQ(all.engine->pipelines[1].arrived, 7U);
}

TEST_F(MergeTest, AnErrorOfAClockIsThatOfTheMeasurementAndOfTheDrift) {
  parts_[1].clock = {.ahead = 5000000, .error = 20000};
  parts_[1].clock_after = {.ahead = 5100000, .error = 30000};
  const result::RunResult all = Merge(scenario_, parts_);
  EXPECT_DOUBLE_EQ(all.hosts[1].clock_ahead, 5);
  EXPECT_DOUBLE_EQ(all.hosts[1].clock_error, 0.13);
  EXPECT_EQ(all.hosts[0].clock_error, 0);
  EXPECT_THAT(all.hosts[1].nodes, ElementsAre("b"));
}

TEST_F(MergeTest, AnEventOfALinkBetweenHostsIsOneEvent) {
  for (PartResult& part : parts_) {
    part.result.events = {{.link = "a-b", .change = "down", .at = 1},
                          {.link = "a-b", .change = "up", .at = 2}};
  }
  EXPECT_EQ(Merge(scenario_, parts_).events.size(), 2U);
}

TEST_F(MergeTest, QuickChangesOfALinkAreEvents) {
  for (PartResult& part : parts_) {
    part.result.events = {{.link = "a-b", .change = "down", .at = 1},
                          {.link = "a-b", .change = "up", .at = 1.001},
                          {.link = "a-b", .change = "down", .at = 1.002},
                          {.link = "a-b", .change = "up", .at = 1.003}};
  }
  // Adds an event of a link within one machine, which only that machine reports.
  parts_[0].result.events.push_back({.link = "c-d", .change = "down", .at = 0.5});
  const auto events = Merge(scenario_, parts_).events;
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(events[0].link, "c-d");
  EXPECT_EQ(events[4].change, "up");
}

}  // namespace
}  // namespace viaduct::machines
