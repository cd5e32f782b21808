#include <gtest/gtest.h>

#include "base/error.h"
#include "sys/network/qdisc.h"
#include "sys/network/sysctl.h"

namespace viaduct::sys {
namespace {

TEST(Sysctl, PathOfAName) {
  EXPECT_EQ(SysctlPath("net.ipv4.ip_forward"), "/proc/sys/net/ipv4/ip_forward");
  EXPECT_EQ(SysctlPath("net/ipv4/conf/eth0.1/rp_filter"),
            "/proc/sys/net/ipv4/conf/eth0.1/rp_filter");
}

TEST(Sysctl, OnlyTheNetworksParameters) {
  EXPECT_THROW(SysctlPath("kernel.hostname"), UsageError);
  EXPECT_THROW(SysctlPath("net/../kernel/hostname"), UsageError);
  EXPECT_THROW(SysctlPath(""), UsageError);
  EXPECT_THROW(SysctlPath("network.x"), UsageError);
}

TEST(Qdisc, DistributionTable) {
  EXPECT_EQ(ParseDistribution("# normal\n -32768 -5\n 0 17 # end\n32767"),
            (std::vector<int16_t>{-32768, -5, 0, 17, 32767}));
  EXPECT_TRUE(ParseDistribution("").empty());
  EXPECT_THROW(ParseDistribution("1 two"), UsageError);
  EXPECT_THROW(ParseDistribution("32768"), UsageError);
}

TEST(Qdisc, BurstHoldsTwoFramesOrAQuarterMillisecond) {
  EXPECT_EQ(SensibleBurst(9600, 1500), 3028);
  EXPECT_EQ(SensibleBurst(10000000000, 1500), 312500);
  EXPECT_EQ(SensibleBurst(1000000, 9000), 18028);
}

}  // namespace
}  // namespace viaduct::sys
