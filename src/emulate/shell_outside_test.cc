#include "emulate/shell_outside.h"

#include <gmock/gmock.h>

namespace viaduct::emulate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const ShellSubnet kSubnet{wire::IpPrefix::Parse("100.64.0.0/30"),
                          wire::IpAddress::Parse("100.64.0.1"), std::nullopt};

TEST(ShellRulesTest, WhereEverythingForwardsTheyTranslateAddressesOnly) {
  const std::string rules = ShellRules("vsh7", kSubnet, {});
  EXPECT_THAT(rules, HasSubstr("table ip vsh7 {"));
  EXPECT_THAT(rules, HasSubstr("ip saddr 100.64.0.0/30 oifname != \"vsh7\" masquerade"));
  EXPECT_THAT(rules, Not(HasSubstr("drop")));
  EXPECT_THAT(rules, Not(HasSubstr("dnat")));
}

TEST(ShellRulesTest, AnswersPassBeforeAllElseIsDropped) {
  const std::string rules = ShellRules("vsh7", kSubnet, {{"eth0", 2}, {"eth1", 3}});
  const size_t answers = rules.find("oifname \"vsh*\" ct state established,related accept");
  ASSERT_NE(answers, std::string::npos);
  EXPECT_GT(rules.find("iifname \"eth0\" drop"), answers);
  EXPECT_GT(rules.find("iifname \"eth1\" drop"), answers);
}

TEST(ShellRulesTest, AskTheNameServerOfThisMachine) {
  ShellSubnet subnet = kSubnet;
  subnet.name_server = "127.0.0.53";
  for (const char* protocol : {"udp", "tcp"}) {
    EXPECT_THAT(
        ShellRules("vsh7", subnet, {}),
        HasSubstr(std::string("ip daddr 100.64.0.1 ") + protocol + " dport 53 dnat to 127.0.0.53"));
  }
}

}  // namespace
}  // namespace viaduct::emulate
