// Tests of a RouteMirror whose sink refuses routes.
#include "plane/fib/route_mirror.h"

#include <gtest/gtest.h>

#include <set>

#include "plane/fib/data_plane.h"
#include "plane/fib/test_route.h"

namespace viaduct::fib {
namespace {

using test::MakeRoute;

RouteTable TableOf(const std::vector<Route>& routes) {
  RouteTable table;
  for (const Route& route : routes) table[KeyOf(route)] = route;
  return table;
}

class FakeSink final : public RouteSink {
 public:
  std::set<RouteKey> refuses;
  bool is_gone = false;
  std::vector<RouteChanges> seen;

 private:
  void DoApply(const RouteChanges& changes) override {
    seen.push_back(changes);
    if (is_gone) throw Error("it has ended");
    std::vector<RefusedRoute> refused;
    for (const auto* routes : {&changes.replaced, &changes.added, &changes.removed}) {
      for (const Route& route : *routes) {
        if (refuses.contains(KeyOf(route))) refused.push_back({route, "no"});
      }
    }
    if (!refused.empty()) throw RouteError(std::move(refused), changes.size());
  }
};

class RouteMirrorTest : public testing::Test {
 protected:
  const Route good_ = MakeRoute("10.1.0.0/16", "10.0.0.1");
  const Route bad_ = MakeRoute("10.2.0.0/16", "10.0.0.1");
  std::shared_ptr<FakeSink> sink_ = std::make_shared<FakeSink>();
  RouteMirror mirror_{sink_};
};

TEST_F(RouteMirrorTest, AppliesDifferencesOnly) {
  EXPECT_EQ(mirror_.Update(TableOf({good_, bad_})).changes.added.size(), 2u);
  EXPECT_TRUE(mirror_.Update(TableOf({good_, bad_})).changes.empty());
  EXPECT_EQ(sink_->seen.size(), 1u);
  EXPECT_EQ(mirror_.Update(TableOf({good_})).changes.removed, std::vector{bad_});
}

TEST_F(RouteMirrorTest, ARefusedRouteIsNotInstalledAndTriedAgain) {
  sink_->refuses = {KeyOf(bad_)};
  const RouteTable wanted = TableOf({good_, bad_});
  const RouteUpdate first = mirror_.Update(wanted);
  EXPECT_EQ(first.refusal, "1 of 2 routes refused: 10.2.0.0/16 via 10.0.0.1 dev eth0: no");
  EXPECT_EQ(first.refused, 1u);
  EXPECT_EQ(mirror_.installed(), TableOf({good_}));
  EXPECT_EQ(sink_->counters().added, 1u);
  EXPECT_EQ(sink_->counters().refused, 1u);

  sink_->refuses.clear();
  const RouteUpdate second = mirror_.Update(wanted);
  EXPECT_EQ(second.changes.added, std::vector{bad_});
  EXPECT_EQ(second.refusal, "");
  EXPECT_EQ(mirror_.installed(), wanted);
}

TEST_F(RouteMirrorTest, WhatARefusedChangeLeavesIsTheOldRoute) {
  mirror_.Update(TableOf({bad_}));
  const Route other = MakeRoute("10.2.0.0/16", "10.0.0.9");
  sink_->refuses = {KeyOf(bad_)};
  mirror_.Update(TableOf({other}));
  EXPECT_EQ(mirror_.installed(), TableOf({bad_}));
  mirror_.Update({});  // the sink refuses the removal, too
  EXPECT_EQ(mirror_.installed(), TableOf({bad_}));
  sink_->refuses.clear();
  EXPECT_EQ(mirror_.Update({}).changes.removed, std::vector{bad_});
  EXPECT_TRUE(mirror_.installed().empty());
}

TEST_F(RouteMirrorTest, ASinkThatFailsHasTakenNothing) {
  sink_->is_gone = true;
  EXPECT_EQ(mirror_.Update(TableOf({good_})).refusal, "it has ended");
  EXPECT_TRUE(mirror_.installed().empty());
  sink_->is_gone = false;
  EXPECT_EQ(mirror_.Update(TableOf({good_})).changes.added.size(), 1u);
}

TEST_F(RouteMirrorTest, WhatAFailedCallMayHaveDoneIsUndoneOrRepeated) {
  mirror_.Update(TableOf({good_}));
  sink_->is_gone = true;
  mirror_.Update(TableOf({bad_}));  // the sink may have added bad_ and removed good_
  sink_->is_gone = false;
  const RouteChanges changes = mirror_.Update(TableOf({good_})).changes;
  EXPECT_EQ(changes.replaced, std::vector{good_});
  EXPECT_EQ(changes.removed, std::vector{bad_});
  EXPECT_TRUE(mirror_.Update(TableOf({good_})).changes.empty());
}

TEST(RouteError, NamesTheFirstRoutesAndCountsTheRest) {
  std::vector<RefusedRoute> refused;
  for (int i = 1; i <= 5; ++i) {
    refused.push_back({MakeRoute("10.2.0." + std::to_string(i) + "/32", "10.1.0.1"), "no"});
  }
  const RouteError error(refused, 9);
  EXPECT_STREQ(error.what(),
               "5 of 9 routes refused: 10.2.0.1/32 via 10.1.0.1 dev eth0: no; "
               "10.2.0.2/32 via 10.1.0.1 dev eth0: no; 10.2.0.3/32 via 10.1.0.1 dev eth0: no; "
               "and 2 more");
}

TEST(RouteMirror, TheSimulatorsPlaneTakesAllRoutes) {
  RouteMirror mirror(kSimulatorPlane.make_sink({}));
  EXPECT_EQ(mirror.Update(TableOf({MakeRoute("10.1.0.0/16", "10.0.0.1")})).refusal, "");
  EXPECT_EQ(mirror.sink().counters().added, 1u);
}

}  // namespace
}  // namespace viaduct::fib
