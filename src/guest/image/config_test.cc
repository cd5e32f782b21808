#include "guest/image/config.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/error.h"
#include "guest/image/build_inputs.h"

namespace viaduct::guest {
namespace {

using Need = ConfigOption::Need;

TEST(Config, FragmentHasOptionsInOrderWithTheirNeed) {
  const auto options = ParseFragment(
      "# A remark\n"
      "# --- The machine [required]\nCONFIG_INET=y\n\n"
      "# --- Older [implied]\nCONFIG_SSL_CHAN=\"null\"\n"
      "# --- More\n# CONFIG_BLOCK is not set\nCONFIG_HZ=1000\n",
      "f");
  ASSERT_EQ(options.size(), 4u);
  EXPECT_EQ(options[0].name, "CONFIG_INET");
  EXPECT_EQ(options[0].need, Need::kRequired);
  EXPECT_EQ(options[1].value, "\"null\"");
  EXPECT_EQ(options[1].need, Need::kImplied);
  EXPECT_EQ(options[2].name, "CONFIG_BLOCK");
  EXPECT_EQ(options[2].value, "n");
  EXPECT_EQ(options[3].need, Need::kWanted);
}

TEST(Config, MalformedLineIsNamed) {
  for (const char* line : {"INET=y", "CONFIG_INET", "CONFIG_=y", "CONFIG_A B=y", " CONFIG_A=y"}) {
    try {
      ParseFragment(std::string("CONFIG_NET=y\n") + line + "\n", "my.config");
      ADD_FAILURE() << line;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("my.config:2"));
      EXPECT_THAT(error.what(), testing::HasSubstr(line));
    }
  }
}

TEST(Config, ValueIsThatOfTheWholeName) {
  const char* config =
      "CONFIG_INET=y\nCONFIG_INET_AH=m\n# CONFIG_BLOCK is not set\nCONFIG_HZ=100\n";
  EXPECT_EQ(ConfigValue(config, "CONFIG_INET"), "y");
  EXPECT_EQ(ConfigValue(config, "CONFIG_INET_AH"), "m");
  EXPECT_EQ(ConfigValue(config, "CONFIG_BLOCK"), "n");
  EXPECT_EQ(ConfigValue(config, "CONFIG_NONE"), "n");
  EXPECT_EQ(ConfigValue(config, "CONFIG_HZ"), "100");
}

TEST(Config, UnmetIsWhatCameOutOtherwise) {
  const auto wanted = ParseFragment("CONFIG_INET=y\nCONFIG_IP_DCCP=y\nCONFIG_BLOCK=n\n", "f");
  const auto unmet = Unmet(wanted, "CONFIG_INET=y\nCONFIG_BLOCK=y\n");
  ASSERT_EQ(unmet.size(), 2u);
  EXPECT_EQ(unmet[0].name, "CONFIG_IP_DCCP");
  EXPECT_EQ(unmet[1].name, "CONFIG_BLOCK");
}

TEST(Config, OurFragmentRequiresWhatVirtualTimeNeeds) {
  const auto options = ParseFragment(ConfigText(), "kernel.config");
  const auto required = [&](const std::string& name) {
    return std::any_of(options.begin(), options.end(), [&](const ConfigOption& option) {
      return option.name == name && option.need == Need::kRequired && option.value == "y";
    });
  };
  EXPECT_TRUE(required("CONFIG_UML_TIME_TRAVEL_SUPPORT"));
  EXPECT_TRUE(required("CONFIG_VIRTIO_UML"));
  EXPECT_TRUE(required("CONFIG_NET_NS"));
  EXPECT_FALSE(required("CONFIG_IP_DCCP"));  // not required, because Linux 6.16 has no DCCP
}

// Checks that kernel.config has every option that sockets of ns-3's applications, scenarios and
// documents name; such options must not be removed to make the kernel smaller.
TEST(Config, OurFragmentHasWhatExperimentsAskFor) {
  const auto options = ParseFragment(ConfigText(), "kernel.config");
  for (const char* name :
       {"MPTCP_IPV6",    "IP_SCTP",    "IP_DCCP",      "IPV6_SUBTREES", "MPLS_ROUTING",
        "NET_VRF",       "BRIDGE",     "VLAN_8021Q",   "VXLAN",         "NET_IPGRE",
        "IPV6_SIT",      "WIREGUARD",  "INET_ESP",     "TUN",           "NF_TABLES",
        "NET_SCH_NETEM", "NET_SCH_FQ", "NET_SCH_CAKE", "TCP_CONG_BBR",  "TCP_CONG_CDG"}) {
    EXPECT_TRUE(std::any_of(options.begin(), options.end(), [&](const ConfigOption& option) {
      return option.name == std::string("CONFIG_") + name && option.value == "y" &&
             option.need != Need::kImplied;
    })) << name;
  }
}

TEST(Config, OurFragmentNamesNoOptionTwice) {
  std::set<std::string> names;
  for (const ConfigOption& option : ParseFragment(ConfigText(), "kernel.config")) {
    EXPECT_TRUE(names.insert(option.name).second) << option.name;
  }
}

TEST(Config, EveryPatchSaysWhatItsAbsenceCosts) {
  ASSERT_EQ(Patches().size(), 13u);
  for (const Patch& patch : Patches()) {
    const std::string_view header = patch.text.substr(0, patch.text.find("\n--- a/"));
    EXPECT_THAT(header, testing::HasSubstr("Without this patch")) << patch.name;
  }
}

}  // namespace
}  // namespace viaduct::guest
