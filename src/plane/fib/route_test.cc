#include "plane/fib/route.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plane/fib/test_route.h"

namespace viaduct::fib {
namespace {

using test::MakeRoute;
using testing::ElementsAre;
using testing::IsEmpty;

RouteTable Table(const std::vector<Route>& routes) {
  RouteTable table;
  for (const Route& route : routes) table[{route.destination, route.metric}] = route;
  return table;
}

TEST(Difference, OfEqualTablesIsEmpty) {
  const auto table =
      Table({MakeRoute("10.0.0.0/24", "10.1.0.1"), MakeRoute("0.0.0.0/0", "10.1.0.1")});
  EXPECT_TRUE(Difference(table, table).empty());
  EXPECT_TRUE(Difference({}, {}).empty());
}

TEST(Difference, SortsRoutesByWhatMustHappenToThem) {
  const Route kept = MakeRoute("10.0.1.0/24", "10.1.0.1");
  const Route gone = MakeRoute("10.0.2.0/24", "10.1.0.1");
  const Route before = MakeRoute("10.0.3.0/24", "10.1.0.1");
  const Route after = MakeRoute("10.0.3.0/24", "10.1.0.2");
  const Route fresh = MakeRoute("10.0.4.0/24", "10.1.0.1");
  const auto changes = Difference(Table({kept, gone, before}), Table({kept, after, fresh}));
  EXPECT_THAT(changes.replaced, ElementsAre(after));
  EXPECT_THAT(changes.added, ElementsAre(fresh));
  EXPECT_THAT(changes.removed, ElementsAre(gone));
  EXPECT_EQ(changes.size(), 3u);
}

TEST(Difference, TreatsAnotherMetricAsAnotherRoute) {
  const Route low = MakeRoute("10.0.1.0/24", "10.1.0.1", 1);
  const Route high = MakeRoute("10.0.1.0/24", "10.1.0.1", 2);
  const auto changes = Difference(Table({low}), Table({high}));
  EXPECT_THAT(changes.replaced, IsEmpty());
  EXPECT_THAT(changes.added, ElementsAre(high));
  EXPECT_THAT(changes.removed, ElementsAre(low));
}

TEST(Difference, KeepsTheFamiliesApart) {
  const Route ipv4 = MakeRoute("0.0.0.0/0", "10.1.0.1");
  const Route ipv6 = MakeRoute("::/0", "fe80::1");
  const auto changes = Difference(Table({ipv4}), Table({ipv4, ipv6}));
  EXPECT_THAT(changes.added, ElementsAre(ipv6));
  EXPECT_THAT(changes.replaced, IsEmpty());
  EXPECT_THAT(changes.removed, IsEmpty());
}

TEST(Difference, OneNextHopLessIsAReplacement) {
  const Route one = MakeRoute("10.0.3.0/24", "10.1.0.1");
  Route two = one;
  two.next_hops.push_back({wire::IpAddress::Parse("10.2.0.1"), "eth1"});
  EXPECT_THAT(Difference(Table({two}), Table({one})).replaced, ElementsAre(one));
  EXPECT_THAT(Difference(Table({one}), Table({two})).replaced, ElementsAre(two));
}

TEST(RouteText, ReadsAsIpRouteWritesIt) {
  EXPECT_EQ(ToString(MakeRoute("10.0.1.0/24", "10.1.0.1", 7)),
            "10.0.1.0/24 via 10.1.0.1 dev eth0 metric 7");
  EXPECT_EQ(ToString(MakeRoute("10.0.1.0/24", "")), "10.0.1.0/24 dev eth0");
  Route two = MakeRoute("10.0.1.0/24", "10.1.0.1");
  two.next_hops.push_back({wire::IpAddress::Parse("10.2.0.1"), "eth1"});
  EXPECT_EQ(ToString(two),
            "10.0.1.0/24 nexthop via 10.1.0.1 dev eth0 nexthop via 10.2.0.1 dev eth1");
}

}  // namespace
}  // namespace viaduct::fib
