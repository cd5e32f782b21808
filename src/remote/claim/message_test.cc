#include "remote/claim/message.h"

#include <gtest/gtest.h>

namespace viaduct::claim {
namespace {

using nlohmann::json;

Offer FullOffer() {
  Offer offer;
  offer.node = "n17";
  offer.vni = 17;
  offer.port = 4789;
  offer.mtu = 1450;
  offer.mac = wire::MacAddress::Parse("02:00:00:00:00:11");
  offer.addresses = {wire::IpPrefix::Parse("10.0.0.2/30"), wire::IpPrefix::Parse("2001:db8::2/64")};
  offer.gateways = {wire::IpAddress::Parse("10.0.0.1"), wire::IpAddress::Parse("2001:db8::1")};
  offer.routes = {{wire::IpPrefix::Parse("192.0.2.0/24"), wire::IpAddress::Parse("10.0.0.1")}};
  offer.names = {{"n0", {wire::IpAddress::Parse("10.0.0.1"), wire::IpAddress::Parse("fd00::1")}}};
  offer.session = "0123456789abcdef";
  return offer;
}

const char* const kOpenKey = "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=";

Offer EncryptedOffer() {
  Offer offer = FullOffer();
  offer.wireguard = {TunnelKey::Parse(kOpenKey), 51820, wire::IpAddress::Parse("10.0.0.0"),
                     wire::IpAddress::Parse("10.0.0.17")};
  return offer;
}

TEST(ClaimMessage, AnOfferArrivesAsItWasSent) {
  const FromHub message = ParseFromHub(Encode(FullOffer()));
  ASSERT_TRUE(std::holds_alternative<Offer>(message));
  EXPECT_EQ(std::get<Offer>(message), FullOffer());
}

TEST(ClaimMessage, SoDoesAnEncryptedOne) {
  const FromHub message = ParseFromHub(Encode(EncryptedOffer()));
  ASSERT_TRUE(std::holds_alternative<Offer>(message));
  EXPECT_EQ(std::get<Offer>(message), EncryptedOffer());
  EXPECT_NE(std::get<Offer>(message), FullOffer());
}

TEST(ClaimMessage, WhatNoEncryptedTunnelIs) {
  const auto refused = [](const char* key, const json& value) {
    json offer = WriteOffer(EncryptedOffer());
    offer["wireguard"][key] = value;
    EXPECT_THROW(ReadOffer(offer), MessageError) << key << " " << value;
    offer["wireguard"].erase(key);
    EXPECT_THROW(ReadOffer(offer), MessageError) << "without " << key;
  };
  refused("key", "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTm==");
  refused("port", 0);
  refused("hub", "224.0.0.1");
  refused("hub", "10.0.0.17");  // the client's address, which the hub cannot have
  refused("client", "fd00::1");
  refused("client", "0.0.0.0");
  json offer = WriteOffer(FullOffer());
  offer["wireguard"] = true;
  EXPECT_THROW(ReadOffer(offer), MessageError);
}

TEST(ClaimMessage, ARequestArrivesAsItWasSent) {
  const auto named = std::get<Request>(ParseFromClient(Encode(Request{"n17", "abc"})));
  EXPECT_EQ(named.node, "n17");
  EXPECT_EQ(named.session, "abc");
  const auto any = std::get<Request>(ParseFromClient(Encode(Request{std::nullopt, ""})));
  EXPECT_EQ(any.node, std::nullopt);
  EXPECT_EQ(any.session, "");
  EXPECT_EQ(any.wireguard, std::nullopt);
  const Request keyed{"n17", "", TunnelKey::Parse(kOpenKey)};
  EXPECT_EQ(std::get<Request>(ParseFromClient(Encode(keyed))).wireguard, keyed.wireguard);
  const char* const bad = R"({"claim": null, "version": 1, "wireguard": "AAAA"})";
  EXPECT_THROW(ParseFromClient(bad), MessageError);
}

TEST(ClaimMessage, SmallMessages) {
  EXPECT_TRUE(std::holds_alternative<Alive>(ParseFromClient(Encode(Alive{}))));
  EXPECT_FALSE(std::get<Leave>(ParseFromClient(Encode(Leave{}))).has_failed);
  EXPECT_TRUE(std::get<Leave>(ParseFromClient(Encode(Leave{true}))).has_failed);
  EXPECT_TRUE(std::holds_alternative<Alive>(ParseFromHub(Encode(Alive{}))));
  EXPECT_EQ(std::get<Refusal>(ParseFromHub(Encode(Refusal{"taken"}))).reason, "taken");
}

TEST(ClaimMessage, WhatNoOfferMayHave) {
  const auto refused = [](const char* key, const json& value) {
    json offer = WriteOffer(FullOffer());
    offer[key] = value;
    EXPECT_THROW(ReadOffer(offer), MessageError) << key << " " << value;
    offer.erase(key);
    EXPECT_THROW(ReadOffer(offer), MessageError) << "without " << key;
  };
  for (const json& vni : {json(0), json(1 << 24), json(-1), json("7"), json(7.5)}) {
    refused("vni", vni);
  }
  refused("port", 65536);
  refused("mtu", 67);
  refused("mtu", 1279);  // too small for the offer, which has IPv6 addresses
  refused("mtu", 18446744073709551615u);
  refused("mac", "01:00:00:00:00:11");
  refused("addresses", {"10.0.0.300/30"});
  refused("addresses", "10.0.0.2/30");
  refused("gateways", {"10.0.0.1", "10.0.0.2"});
  refused("routes", {{{"to", "10.0.0.0/8"}, {"via", "fd00::1"}}});
  refused("routes", json::array({1}));
  refused("names", {{"evil\n1.2.3.4 debian.org", json::array()}});
  refused("names", {{"n0", {"nowhere"}}});
  refused("node", "../../etc");
  refused("node", "");
  refused("session", std::string(65, 'a'));
}

TEST(ClaimMessage, Ipv4AloneMayHaveASmallMtu) {
  Offer offer = FullOffer();
  offer.mtu = 576;
  offer.addresses.pop_back();
  EXPECT_EQ(ReadOffer(WriteOffer(offer)).mtu, 576);
}

TEST(ClaimMessage, WhatIsNoMessage) {
  for (const char* line : {"", "[]", "7", "{", "{\"claim\": \"n1\"}", "{\"claim\":7,\"version\":1}",
                           "{\"claim\":null,\"version\":2}", "{}", "\xff\xfe"}) {
    EXPECT_THROW(ParseFromClient(line), MessageError) << line;
  }
  EXPECT_THROW(ParseFromHub("{\"error\": 3}"), MessageError);
  EXPECT_THROW(ParseFromHub("{}"), MessageError);
  // The line has the deepest nesting that a line can have.
  EXPECT_THROW(ParseFromClient(std::string(kMaxRequest, '[')), MessageError);
}

TEST(ClaimMessage, AnotherVersionIsNamed) {
  try {
    ParseFromClient("{\"claim\":null,\"version\":9}");
    FAIL();
  } catch (const MessageError& error) {
    EXPECT_NE(std::string(error.what()).find("version 9"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace viaduct::claim
