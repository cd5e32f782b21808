#include "path/shell/shell_addresses.h"

#include <gmock/gmock.h>

#include <string>

#include "base/error.h"

namespace viaduct::path {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<wire::IpPrefix> Parsed(std::initializer_list<const char*> texts) {
  std::vector<wire::IpPrefix> prefixes;
  for (const char* text : texts) prefixes.push_back(wire::IpPrefix::Parse(text));
  return prefixes;
}

std::string Free(std::initializer_list<const char*> taken) {
  return FreeSubnet(Parsed(taken)).ToString();
}

TEST(ShellAddressesTest, TheFirstSubnetThatIsFreeIsTaken) {
  EXPECT_EQ(Free({}), "100.64.0.0/30");
  EXPECT_EQ(Free({"192.0.2.1/24", "fd00::1/64"}), "100.64.0.0/30");
  EXPECT_EQ(Free({"100.64.0.1/30"}), "100.64.0.4/30");
  EXPECT_EQ(Free({"100.64.0.6/30", "100.64.0.0/30"}), "100.64.0.8/30");
  EXPECT_EQ(Free({"100.64.0.9/32", "100.64.0.0/29"}), "100.64.0.12/30");
  EXPECT_EQ(Free({"100.64.0.0/11"}), "100.96.0.0/30");
  EXPECT_THROW(Free({"100.64.0.1/10"}), Error);
}

TEST(ShellAddressesTest, Ipv6HasACounterpartOfEachAddress) {
  EXPECT_EQ(Ipv6Of(wire::IpPrefix::Parse("100.64.0.4/30")).ToString(),
            "fd76:6961:6475::6440:4/126");
  EXPECT_EQ(Ipv6Of(wire::IpAddress::Parse("100.127.255.254")).ToString(),
            "fd76:6961:6475::647f:fffe");
}

TEST(ShellAddressesTest, SubnetsOfShellsAreToldFromOthers) {
  EXPECT_THAT(SubnetsOfShells(Parsed({"192.0.2.1/30", "100.64.0.0/10", "100.64.1.0/24"})),
              IsEmpty());
  EXPECT_THAT(
      SubnetsOfShells(Parsed({"100.64.0.6/30", "100.64.0.1/30", "100.64.0.4/30"})),
      ElementsAre(wire::IpPrefix::Parse("100.64.0.0/30"), wire::IpPrefix::Parse("100.64.0.4/30")));
}

}  // namespace
}  // namespace viaduct::path
