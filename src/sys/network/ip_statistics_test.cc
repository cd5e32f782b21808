#include "sys/network/ip_statistics.h"

#include <gtest/gtest.h>

namespace viaduct::sys {
namespace {

TEST(IpStatistics, GroupsAreTwoLinesEach) {
  IpCounters counters;
  AddGroups("Ip: Forwarding InHdrErrors\nIp: 1 7\nTcp: MaxConn\nTcp: -1\n", counters);
  EXPECT_EQ(counters["Ip.Forwarding"], 1U);
  EXPECT_EQ(counters["Ip.InHdrErrors"], 7U);
  EXPECT_EQ(counters.size(), 3U);
}

TEST(IpStatistics, WhatIsCutOffIsNotRead) {
  IpCounters counters;
  AddGroups("", counters);
  AddGroups("Ip: Forwarding InHdrErrors\n", counters);
  AddGroups("\n\n", counters);
  AddLines("Ip6InHdrErrors", counters);
  EXPECT_TRUE(counters.empty());
  AddGroups("Ip: Forwarding InHdrErrors\nIp: 1\n", counters);
  EXPECT_EQ(counters.size(), 1U);
}

TEST(IpStatistics, DropsOfBothFamiliesAreAddedUpByCause) {
  IpCounters counters;
  AddGroups("Ip: InHdrErrors FragFails\nIp: 7 0\nIpExt: InNoRoutes\nIpExt: 2\n", counters);
  AddLines("Ip6InHdrErrors \t 3\nIp6InTooBigErrors 5\nIp6FragFails 5\nIp6InReceives 100\n",
           counters);
  EXPECT_EQ(DropsAmong(counters),
            (IpCounters{{"ttl_or_header", 10}, {"no_route", 2}, {"too_long", 5}}));
}

TEST(IpStatistics, WhatInterfacesDroppedOnItsWayOut) {
  constexpr const char* kText =
      R"(Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:     100       1    0    9    0     0          0         0      100       1    0    2    0     0       0          0
  tun0:1 2 3 4 5 6 7 8 9 10 11 40 13 14 15 16
)";
  EXPECT_EQ(SendingDrops(kText), 42U);
  EXPECT_EQ(SendingDrops(kText, "tun0"), 40U);
  EXPECT_EQ(SendingDrops(kText, "tun"), 0U);
  EXPECT_EQ(SendingDrops(""), 0U);
}

}  // namespace
}  // namespace viaduct::sys
