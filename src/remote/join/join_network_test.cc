#include "remote/join/join_network.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace viaduct::remote {
namespace {

using nlohmann::json;

JoinRequest SomeRequest() {
  JoinRequest request;
  claim::Offer& offer = request.offer;
  offer.node = "n17";
  offer.vni = 17;
  offer.port = 4789;
  offer.addresses = {wire::IpPrefix::Parse("10.0.0.2/30")};
  offer.names = {{"n0", {wire::IpAddress::Parse("10.0.0.1"), wire::IpAddress::Parse("fd00::1")}},
                 {"n17", {wire::IpAddress::Parse("10.0.0.2")}}};
  offer.session = "secret";
  request.hub = wire::IpAddress::Parse("2001:db8::1");
  request.into = "web";
  return request;
}

TEST(JoinNetworkTest, ARequestArrivesAsItWasSent) {
  const JoinRequest read = DecodeJoin(EncodeJoin(SomeRequest()));
  EXPECT_EQ(read.offer, SomeRequest().offer);
  EXPECT_EQ(read.hub, SomeRequest().hub);
  EXPECT_EQ(read.into, "web");
}

TEST(JoinNetworkTest, WhatRootsHalfDoesNotDo) {
  const auto refused = [](const char* key, const json& value) {
    json request = EncodeJoin(SomeRequest());
    request[key] = value;
    EXPECT_THROW(DecodeJoin(request), UsageError) << key << " " << value;
    request.erase(key);
    EXPECT_THROW(DecodeJoin(request), UsageError) << "without " << key;
  };
  for (const char* into : {"../1", "/proc/1/ns/net", ".", ".."}) refused("into", into);
  refused("into", std::string("a\0b", 3));
  refused("into", std::string(256, 'a'));
  for (const char* hub : {"239.0.0.1", "ff02::1", "0.0.0.0", "::", "hub", ""}) refused("hub", hub);
  refused("hub", 7);
  refused("offer", json::array());
  json offer = EncodeJoin(SomeRequest())["offer"];
  offer["port"] = 53;
  refused("offer", offer);
  offer["port"] = 4789;
  offer["names"]["n0\n192.0.2.1 debian.org"] = {"10.0.0.1"};
  refused("offer", offer);
}

TEST(JoinNetworkTest, NamesStandInTheHostsFile) {
  EXPECT_EQ(HostsFile(SomeRequest().offer),
            "127.0.0.1 localhost\n::1 localhost\n10.0.0.1 n0\nfd00::1 n0\n10.0.0.2 n17\n");
}

}  // namespace
}  // namespace viaduct::remote
