#include "base/result/reconvergence.h"

#include <gtest/gtest.h>

#include "base/result/run.h"

namespace viaduct::result {
namespace {

// Returns a run with a ping that sends ten requests a second and starts at 1 s.
RunResult Made(const std::vector<Gap>& gaps, const std::vector<LinkEvent>& events) {
  RunResult run;
  FlowResult& flow = run.flows.emplace_back();
  flow.name = "ping";
  flow.start = 1;
  flow.gaps = gaps;
  run.events = events;
  return run;
}

TEST(ReconvergenceTest, IsBetweenTheLastLostAndTheFirstSteadyPacket) {
  RunResult run = Made({{3.9, 7.2, 40, 32}}, {{"a-b", "down", 5}});
  run.simulator.route_changes = {
      {4.9, "a", {}, {}, {"x"}}, {6.5, "a", {}, {}, {"x"}}, {7.5, "b", {"y"}, {}, {}}};
  const auto found = FindReconvergence(run);
  ASSERT_EQ(found.size(), 1);
  EXPECT_DOUBLE_EQ(*found[0].routes, 2.5);
  ASSERT_EQ(found[0].flows.size(), 1);
  const FlowRecovery& flow = found[0].flows[0];
  EXPECT_EQ(flow.flow, "ping");
  EXPECT_EQ(flow.lost, 31);  // 32 lost in the gap, less the packet that was sent at the event
  EXPECT_NEAR(flow.last_lost, 3.1, 1e-9);
  EXPECT_NEAR(*flow.steady, 3.2, 1e-9);
}

TEST(ReconvergenceTest, AFewThatComeBetweenAreNotTheEnd) {
  const auto found = FindReconvergence(
      Made({{4, 5, 41, 9}, {5.4, 6, 55, 5}, {8, 9, 81, 9}}, {{"a-b", "up", 4.5}}));
  ASSERT_EQ(found[0].flows.size(), 1);
  EXPECT_EQ(found[0].flows[0].lost, 14);
  EXPECT_NEAR(*found[0].flows[0].steady, 2.5, 1e-9);
}

TEST(ReconvergenceTest, EndsWithTheNextEventAndWithTheFlow) {
  const auto found = FindReconvergence(Made(
      {{3.9, 8.2, 40, 42}, {9, std::nullopt, 91, 9}},
      {{"a-b", "up", 8.05}, {"a-b", "down", 5}, {"b-c", "capture stop", 6}, {"c-d", "down", 9.5}}));
  ASSERT_EQ(found.size(), 3);
  EXPECT_EQ(found[0].change, "down");
  ASSERT_EQ(found[0].flows.size(), 1);
  EXPECT_FALSE(found[0].flows[0].steady);
  EXPECT_NEAR(found[0].flows[0].last_lost, 3.0, 1e-9);
  ASSERT_EQ(found[1].flows.size(), 1);
  EXPECT_NEAR(*found[1].flows[0].steady, 1.15, 1e-9);
  ASSERT_EQ(found[2].flows.size(), 1);
  EXPECT_FALSE(found[2].flows[0].steady);
}

TEST(ReconvergenceTest, AGapThatIsOpenEndsWithItsFlow) {
  // No packet arrives after 2.9 s of the flow. The flow ends at 3.9 s, which is 4.9 s of the run.
  RunResult run = Made({{2.9, std::nullopt, 30, 9}}, {{"a-b", "down", 4.45}, {"a-b", "up", 6}});
  run.flows[0].end = 4.9;
  const auto found = FindReconvergence(run);
  ASSERT_EQ(found.size(), 2);
  ASSERT_EQ(found[0].flows.size(), 1);
  // Four of the nine lost packets were sent after the event: at 4.5, 4.6, 4.7 and 4.8 s.
  EXPECT_EQ(found[0].flows[0].lost, 4);
  EXPECT_NEAR(found[0].flows[0].last_lost, 0.35, 1e-9);
  EXPECT_TRUE(found[1].flows.empty()) << "it had ended";
}

TEST(ReconvergenceTest, NothingLostAndNothingKnown) {
  EXPECT_TRUE(FindReconvergence(Made({{3, 4, 30, 9}}, {})).empty());
  EXPECT_TRUE(FindReconvergence(Made({{3, 4, 30, 9}}, {{"a-b", "up", 7}}))[0].flows.empty());
  RunResult run = Made({{3, 4, 30, 9}}, {{"a-b", "down", 4}});
  EXPECT_EQ(FindReconvergence(run)[0].flows.size(), 1);
  run.flows[0].gaps_omitted = 1;
  EXPECT_TRUE(FindReconvergence(run)[0].flows.empty());
}

}  // namespace
}  // namespace viaduct::result
