#include "run/hub/hub_claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "remote/claim/message.h"

namespace viaduct::run {
namespace {

using testing::ElementsAre, testing::UnorderedElementsAre;

scenario::Scenario RemoteScenario() {
  return scenario::Parse(
      "mode: simulate\n"
      "nodes: {r: {}, a: {remote: true}, b: {remote: any}, c: {remote: 192.0.2.1, gateway: r}, "
      "d: {remote: true, gateway: r}}\n"
      "links: [{pair: [a, r], mtu: 1400}, {pair: [r, b]}, {shared: [c, d, r]}]\n"
      "addressing: {ipv6: \"fd00::/48\"}\n"
      "routing: {protocol: static}\n",
      "test");
}

wire::IpAddress Of(const char* text) { return wire::IpAddress::Parse(text); }

TEST(HubClaimsTest, NodesForTheKeyAreThoseForNobodyElse) {
  EXPECT_THAT(ClaimableNodes(RemoteScenario()), ElementsAre("a", "d"));
}

TEST(HubClaimsTest, AnOfferIsTheNodesPlace) {
  const claim::Offer offer = OfferOf(RemoteScenario(), "a", 4790);
  EXPECT_EQ(offer.node, "a");
  EXPECT_EQ(offer.vni, 1u);
  EXPECT_EQ(offer.port, 4790);
  EXPECT_EQ(offer.mtu, 1400);
  EXPECT_EQ(offer.mac.ToString(), "02:76:64:00:00:01");
  EXPECT_THAT(offer.addresses, ElementsAre(wire::IpPrefix::Parse("10.0.0.1/30"),
                                           wire::IpPrefix::Parse("fd00::1/64")));
  EXPECT_THAT(offer.gateways, ElementsAre(Of("10.0.0.2"), Of("fd00::2")));
  const auto names = NamesOf(RemoteScenario());
  EXPECT_THAT(names.at("a"), UnorderedElementsAre(Of("10.0.0.1"), Of("fd00::1")));
  EXPECT_EQ(names.at("r").size(), 6u) << "on three links";
  EXPECT_EQ(names.size(), 5u);
}

TEST(HubClaimsTest, EveryOfferCanBeRead) {
  for (const std::string& node : ClaimableNodes(RemoteScenario())) {
    claim::Offer offer = OfferOf(RemoteScenario(), node, 4789);
    offer.session = "some";
    offer.names = NamesOf(RemoteScenario());
    EXPECT_EQ(claim::ReadOffer(claim::WriteOffer(offer)), offer) << node;
  }
  EXPECT_THROW(OfferOf(RemoteScenario(), "r", 4789), UsageError);
}

TEST(HubClaimsTest, TheClientOfARouterHasAllItsAddressesAndNoGateway) {
  const scenario::Scenario scenario = scenario::Parse(
      "nodes: {r: , a: {remote: true}, s: }\n"
      "links: [{pair: [a, r], mtu: 1400}, {pair: [r, s]}, {pair: [s, a]}]\n"
      "routing: AODV\n",
      "test");
  claim::Offer offer = OfferOf(scenario, "a", 4789);
  EXPECT_THAT(offer.addresses, ElementsAre(wire::IpPrefix::Parse("10.0.0.1/30"),
                                           wire::IpPrefix::Parse("10.0.0.10/30")));
  EXPECT_THAT(offer.gateways, ElementsAre(Of("0.0.0.0"))) << "everything is on its link";
  EXPECT_EQ(offer.mtu, 1500);
  offer.session = "some";
  EXPECT_EQ(claim::ReadOffer(claim::WriteOffer(offer)), offer);
}

}  // namespace
}  // namespace viaduct::run
