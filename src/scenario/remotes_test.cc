#include "scenario/remotes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "scenario/scenario.h"

namespace viaduct::scenario {
namespace {

using testing::HasSubstr;

std::string RemoteErrorOf(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    Parse(text, "f.yaml", overrides);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "no error";
}

TEST(RemotesTest, RemoteNodesAreRoutersWhereHostsAreNotFound) {
  const std::string text =
      "nodes: {r: , a: {remote: true}}\nlinks: [{pair: [a, r]}, {pair: [r, a]}]\nstack: kernel\n"
      "mode: offload\nrouting: {protocol: ";
  for (const char* protocol : {"AODV", "dsdv"}) {
    const Scenario scenario = Parse(text + protocol + "}\n", "f.yaml");
    EXPECT_FALSE(scenario.nodes[1].host) << "on two links, besides";
    EXPECT_TRUE(scenario.nodes[1].gateway.empty());
    EXPECT_FALSE(scenario.nodes[1].kernel) << "its programs are the client's";
    EXPECT_EQ(Parse(Print(scenario), "f.yaml").hash, scenario.hash);
  }
  EXPECT_THAT(RemoteErrorOf(text + "OLSR}\n"),
              HasSubstr("must be on exactly one link, but this node is on 2"));
  const Scenario chosen = Parse(text + "OLSR}\n", "f.yaml", {"nodes.a.host=false"});
  EXPECT_FALSE(chosen.nodes[1].host);
  EXPECT_EQ(Parse(Print(chosen), "f.yaml").hash, chosen.hash);
}

TEST(RemotesTest, RemoteRoutersAreOfIpv4AndOfTheSimulator) {
  const std::string text = "nodes: {r: , a: {remote: true}}\nlinks: [{pair: [r, a]}]\nrouting: ";
  const auto error = [&](const std::string& protocol, const std::string& change) {
    return RemoteErrorOf(text + protocol + "\n", {change});
  };
  EXPECT_THAT(error("AODV", "nodes.a.host=true"), HasSubstr("nodes.a.host: AODV announces nodes"));
  EXPECT_THAT(error("AODV", "nodes.a.gateway=r"), HasSubstr("only a host has a gateway"));
  EXPECT_THAT(error("AODV", "nodes.a.data_plane=kernel"), HasSubstr("nodes.a.data_plane"));
  EXPECT_EQ(error("AODV", "nodes.a.data_plane=simulator"), "no error");
  EXPECT_THAT(error("AODV", "addressing.ipv6=fd00::/48"), HasSubstr("nodes.a.remote: with AODV"));
  EXPECT_THAT(RemoteErrorOf(text + "OLSR\n", {"nodes.a.host=false", "addressing.ipv6=fd00::/48"}),
              HasSubstr("remove host: false"));
  EXPECT_THAT(error("none", "nodes.a.host=false"), HasSubstr("would make the routes"));
  EXPECT_THAT(error("AODV", "nodes.a.routing=none"), HasSubstr("would make the routes"));
  EXPECT_THAT(error("WMRP", "nodes.a.host=false"),
              HasSubstr("with WMRP a remote node must be a host"));
  EXPECT_EQ(error("static", "nodes.a.host=false"), "no error");
}

TEST(RemotesTest, ARemoteRouterHasNoDataPlaneOfItsOwnButTheFiles) {
  const std::string text =
      "nodes: {r: , a: {remote: true}}\nlinks: [{pair: [r, a]}]\nrouting: AODV\n";
  for (const std::string plane : {"userspace", "kernel", "auto", "simulator"}) {
    const Scenario scenario = Parse(text, "f.yaml", {"data_plane=" + plane});
    EXPECT_EQ(scenario.nodes[0].data_plane->name, plane);
    EXPECT_EQ(scenario.nodes[1].data_plane->name, plane) << "of commands that have no clients";
    const Scenario again = Parse(Print(scenario), "f.yaml");
    EXPECT_EQ(again.hash, scenario.hash);
    EXPECT_EQ(again.nodes[1].data_plane->name, plane);
  }
  EXPECT_THAT(RemoteErrorOf(text, {"data_plane=userspace", "nodes.a.data_plane=userspace"}),
              HasSubstr("nodes.a.data_plane: the client of this remote node"));
}

}  // namespace
}  // namespace viaduct::scenario
