#include "run/hub/rates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace viaduct::run {
namespace {

using testing::HasSubstr;

// Returns the error for a line n0 - n1 - n2 with these links and this flow; empty if there is no
// error.
std::string Said(const std::string& first, const std::string& second, const std::string& flow,
                 const std::string& node = "{}") {
  const scenario::Scenario line = scenario::Parse(
      "mode: simulate\nnodes: {n0: {}, n1: " + node + ", n2: {}}\nlinks:\n  - {pair: [n0, n1]" +
          first + "}\n  - {pair: [n1, n2]" + second + "}\nrouting: none\nflows: [{" + flow + "}]\n",
      "f.yaml");
  try {
    CheckHubRates(line);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(HubRatesTest, TcpNeedsALimitOnItsWay) {
  const std::string tcp = "type: tcp, from: n0, to: n2";
  EXPECT_THAT(Said("", "", tcp),
              HasSubstr("f.yaml: flows[0]: the flow has no rate, and links from n0"
                        " to n2 have neither a rate nor a delay"));
  EXPECT_THAT(Said("", ", spec: loss=1%", tcp), HasSubstr("flows[0]"));
  EXPECT_EQ(Said("", ", spec: delay=1ms", tcp), "");
  EXPECT_EQ(Said(", up: rate=1Mbit", "", tcp), "");
  EXPECT_EQ(Said(", down: rate=1Mbit", "", tcp), "");
  EXPECT_EQ(Said("", "", tcp + ", rate: 1Mbit"), "");
  EXPECT_EQ(Said("", "", tcp, "{host: true, gateway: n0}"), "") << "a host forwards nothing";
  EXPECT_THAT(Said(", spec: rate=1Mbit, classes: [{name: c, filter: tcp}]", "", tcp),
              HasSubstr("flows[0]"));
}

TEST(HubRatesTest, UdpNeedsTheRateOfItsSendersLink) {
  const std::string udp = "type: udp, from: n0, to: n2";
  EXPECT_THAT(Said("", ", spec: rate=1Mbit", udp), HasSubstr("no link of n0 has a rate"));
  EXPECT_THAT(Said(", down: rate=1Mbit", "", udp), HasSubstr("no link of n0 has a rate"));
  EXPECT_EQ(Said(", up: rate=1Mbit", "", udp), "");
  EXPECT_EQ(Said("", "", udp + ", rate: 1Mbit"), "");
}

TEST(HubRatesTest, PingsNeedNone) { EXPECT_EQ(Said("", "", "type: ping, from: n0, to: n2"), ""); }

}  // namespace
}  // namespace viaduct::run
