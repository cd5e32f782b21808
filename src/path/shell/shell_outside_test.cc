#include "path/shell/shell_outside.h"

#include <gmock/gmock.h>

namespace viaduct::path {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const ShellSubnet kSubnet{wire::IpPrefix::Parse("100.64.0.0/30"),
                          wire::IpAddress::Parse("100.64.0.1"),
                          wire::IpAddress::Parse("100.64.0.2")};

TEST(ShellRulesTest, WhereEverythingForwardsTheyTranslateAddressesOnly) {
  const std::string rules = ShellRules("vsh7", kSubnet, {});
  EXPECT_THAT(rules, HasSubstr("table ip vsh7 {"));
  EXPECT_THAT(rules, HasSubstr("ip saddr 100.64.0.0/30 oifname != \"vsh7\" masquerade"));
  EXPECT_THAT(rules, Not(HasSubstr("elements")));
  EXPECT_THAT(rules, Not(HasSubstr("dnat")));
}

TEST(ShellRulesTest, Ipv6HasATableOfItsOwn) {
  const ShellSubnet subnet{wire::IpPrefix::Parse("fd00::/126"), wire::IpAddress::Parse("fd00::1"),
                           wire::IpAddress::Parse("fd00::2")};
  const std::string rules = ShellRules("vsh7", subnet, {{2, wire::Family::kIpv6}});
  EXPECT_THAT(rules, HasSubstr("table ip6 vsh7 {"));
  EXPECT_THAT(rules, HasSubstr("ip6 saddr fd00::/126 oifname != \"vsh7\" masquerade"));
  EXPECT_THAT(rules, HasSubstr("elements = { \"0000000000000002\" }"));
}

TEST(ShellRulesTest, AnswersPassBeforeAllElseIsDropped) {
  const std::string rules = ShellRules("vsh7", kSubnet, {{2}, {30}});
  EXPECT_THAT(rules, HasSubstr("elements = { \"0000000000000002\", \"0000000000000030\" }"));
  const size_t answers = rules.find("oifname \"vsh*\" ct state established,related accept");
  ASSERT_NE(answers, std::string::npos);
  EXPECT_GT(rules.find("iif @closed drop"), answers);
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
}  // namespace viaduct::path
