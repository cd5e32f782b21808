#include "sys/network/qdisc.h"

#include <gtest/gtest.h>

namespace viaduct::sys {
namespace {

constexpr uint32_t Class(uint16_t major, uint16_t minor) { return QdiscHandle(major) | minor; }

TEST(QdiscOfDepartureTimesTest, IsTheRootOrBelowEveryQueue) {
  const PresentQdisc mq{kRootQdisc, QdiscHandle(0x8001), "mq"};
  const PresentQdisc fq1{Class(0x8001, 1), 0, "fq"}, fq2{Class(0x8001, 2), 0, "fq"};
  EXPECT_EQ(QdiscOfDepartureTimes({{kRootQdisc, QdiscHandle(1), "fq"}}), "fq");
  EXPECT_EQ(QdiscOfDepartureTimes({{kRootQdisc, QdiscHandle(1), "etf"}}), "etf");
  EXPECT_EQ(QdiscOfDepartureTimes({fq1, mq, fq2}), "fq");
  EXPECT_EQ(
      QdiscOfDepartureTimes({{kRootQdisc, QdiscHandle(1), "mqprio"}, {Class(1, 1), 0, "etf"}}),
      "etf");
}

TEST(QdiscOfDepartureTimesTest, IsNoneWhereAFrameMayMeetAnother) {
  const PresentQdisc mq{kRootQdisc, QdiscHandle(0x8001), "mq"};
  EXPECT_EQ(QdiscOfDepartureTimes({}), "");
  EXPECT_EQ(QdiscOfDepartureTimes({{kRootQdisc, 0, "noqueue"}}), "");
  EXPECT_EQ(QdiscOfDepartureTimes({mq}), "");
  EXPECT_EQ(
      QdiscOfDepartureTimes({mq, {Class(0x8001, 1), 0, "fq"}, {Class(0x8001, 2), 0, "pfifo_fast"}}),
      "");
  // Expects no qdisc of departure times: "fq" below a token bucket does not count, because the
  // token bucket decides when frames are sent.
  EXPECT_EQ(QdiscOfDepartureTimes(
                {{kRootQdisc, QdiscHandle(1), "tbf"}, {Class(1, 1), QdiscHandle(2), "fq"}}),
            "");
  // Expects no qdisc of departure times: "fq" is below a class of another qdisc than the root.
  EXPECT_EQ(QdiscOfDepartureTimes({mq, {Class(0x8002, 1), 0, "fq"}}), "");
  EXPECT_EQ(QdiscOfDepartureTimes({{kRootQdisc, QdiscHandle(1), "clsact"}}), "");
}

}  // namespace
}  // namespace viaduct::sys
