#include "base/wire/address.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/wire/address_scope.h"

namespace viaduct::wire {
namespace {

TEST(MacAddressTest, ReadsAndPrints) {
  const MacAddress mac = MacAddress::Parse("02:00:5E:00:53:af");
  EXPECT_EQ(mac.bytes, (std::array<uint8_t, 6>{2, 0, 0x5e, 0, 0x53, 0xaf}));
  EXPECT_EQ(mac.ToString(), "02:00:5e:00:53:af");
  EXPECT_FALSE(mac.IsMulticast());
  EXPECT_TRUE(MacAddress::Parse("ff:ff:ff:ff:ff:ff").IsMulticast());
  EXPECT_TRUE(MacAddress::Parse("01:00:5e:00:00:09").IsMulticast());
}

TEST(MacAddressTest, RefusesAnythingElse) {
  for (const char* text : {"", "02:00:00:00:00", "02:00:00:00:00:0", "02-00-00-00-00-01",
                           "02:00:00:00:00:0g", "02:00:00:00:00:01 ", "2:0:0:0:0:1:00000"}) {
    EXPECT_THROW(MacAddress::Parse(text), UsageError) << text;
  }
}

TEST(IpAddressTest, ReadsAndPrints) {
  EXPECT_EQ(IpAddress::Parse("10.0.0.1"), IpAddress::FromIpv4(0x0a000001));
  EXPECT_EQ(IpAddress::Parse("10.0.0.1").ToString(), "10.0.0.1");
  // RFC 5952: an address is written in its shortest form and in lower case.
  EXPECT_EQ(IpAddress::Parse("2001:DB8:0:0:0:0:0:1").ToString(), "2001:db8::1");
  EXPECT_EQ(IpAddress::Parse("::").Length(), 16);
  EXPECT_EQ(IpAddress::Parse("0.0.0.0").Length(), 4);
}

TEST(IpAddressTest, RefusesAnythingElse) {
  using namespace std::string_view_literals;
  for (std::string_view text :
       {""sv, "10.0.0"sv, "10.0.0.256"sv, "10.0.0.1 "sv, "fe80::1%eth0"sv, "10.0.0.1\0"sv, "::g"sv,
        "1111:2222:3333:4444:5555:6666:7777:8888:9999:0000:1111"sv, "localhost"sv}) {
    EXPECT_THROW(IpAddress::Parse(text), UsageError) << text;
  }
}

TEST(IpAddressTest, KnowsMulticastAndUnspecified) {
  EXPECT_TRUE(IpAddress::Parse("224.0.0.9").IsMulticast());
  EXPECT_TRUE(IpAddress::Parse("239.255.255.255").IsMulticast());
  EXPECT_FALSE(IpAddress::Parse("240.0.0.1").IsMulticast());
  EXPECT_FALSE(IpAddress::Parse("255.255.255.255").IsMulticast());
  EXPECT_TRUE(IpAddress::Parse("ff02::9").IsMulticast());
  EXPECT_FALSE(IpAddress::Parse("fe80::1").IsMulticast());
  EXPECT_TRUE(IpAddress::Parse("0.0.0.0").IsUnspecified());
  EXPECT_TRUE(IpAddress::Parse("::").IsUnspecified());
  EXPECT_FALSE(IpAddress::Parse("::1").IsUnspecified());
}

TEST(IpAddressTest, TellsTheMacOfALinkLocalAddress) {
  const auto mac = [](const char* text) { return MacOfLinkLocal(IpAddress::Parse(text)); };
  EXPECT_EQ(mac("fe80::ff:fe00:9"), MacAddress::Parse("02:00:00:00:00:09"));
  EXPECT_EQ(mac("fe80::200:5eff:fe00:5301"), MacAddress::Parse("00:00:5e:00:53:01"));
  EXPECT_EQ(mac("fe80::9"), std::nullopt);
  EXPECT_EQ(mac("2001:db8::ff:fe00:9"), std::nullopt);
}

TEST(IpPrefixTest, KeepsHostBitsUntilAskedForTheNetwork) {
  const IpPrefix prefix = IpPrefix::Parse("10.1.2.3/20");
  EXPECT_EQ(prefix.ToString(), "10.1.2.3/20");
  EXPECT_EQ(prefix.Network().ToString(), "10.1.0.0/20");
  EXPECT_EQ(IpPrefix::Parse("10.1.2.3").ToString(), "10.1.2.3/32");
  EXPECT_EQ(IpPrefix::Parse("2001:db8:ffff::1/35").Network().ToString(), "2001:db8:e000::/35");
  EXPECT_EQ(IpPrefix::Parse("::1").length, 128);
  EXPECT_EQ(IpPrefix::Parse("1.2.3.4/0").Network().ToString(), "0.0.0.0/0");
}

TEST(IpPrefixTest, Contains) {
  const IpPrefix prefix = IpPrefix::Parse("10.1.2.3/20");
  EXPECT_TRUE(prefix.Contains(IpAddress::Parse("10.1.15.255")));
  EXPECT_FALSE(prefix.Contains(IpAddress::Parse("10.1.16.0")));
  EXPECT_FALSE(prefix.Contains(IpAddress::Parse("::")));
  EXPECT_TRUE(IpPrefix::Parse("0.0.0.0/0").Contains(IpAddress::Parse("255.1.1.1")));
  EXPECT_FALSE(IpPrefix::Parse("0.0.0.0/0").Contains(IpAddress::Parse("::1")));
}

TEST(IpPrefixTest, RefusesAnythingElse) {
  for (const char* text : {"10.0.0.1/", "10.0.0.1/33", "10.0.0.1/-1", "10.0.0.1/8x", "/8", "::/129",
                           "10.0.0.1/255.0.0.0"}) {
    EXPECT_THROW(IpPrefix::Parse(text), UsageError) << text;
  }
}

}  // namespace
}  // namespace viaduct::wire
