#include "scenario/places.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace viaduct::scenario {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;

Scenario ParseWifi(const std::string& more, const std::vector<std::string>& overrides = {}) {
  return Parse("mode: simulate\nnodes: {count: 3}\nlinks:\n  - wifi: {nodes: all}\n" + more,
               "f.yaml", overrides);
}

std::string ErrorOf(const std::vector<std::string>& overrides,
                    const std::string& links = "  - wifi: {nodes: all}\n") {
  try {
    Parse("mode: simulate\nnodes: {count: 3}\nlinks:\n" + links, "f.yaml", overrides);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(PlacesTest, WifiIsOneLinkOfAllItsNodes) {
  const Scenario scenario = ParseWifi("  - {pair: [n0, n1]}\n");
  ASSERT_EQ(scenario.links.size(), 2U);
  EXPECT_TRUE(IsWifi(scenario.links[0]));
  EXPECT_EQ(scenario.links[0].name, "wlan0");
  EXPECT_THAT(scenario.links[0].nodes, ElementsAre("n0", "n1", "n2"));
  EXPECT_EQ(scenario.links[0].wifi.standard, "80211a");
  EXPECT_EQ(scenario.links[0].addresses.front().length, 24);
  EXPECT_FALSE(IsWifi(scenario.links[1]));
}

TEST(PlacesTest, NamesOfChannelsAndSegmentsAreCountedApart) {
  const Scenario scenario = ParseWifi("  - {shared: all}\n  - wifi: {nodes: [n0, n1]}\n");
  EXPECT_THAT(scenario.links,
              ElementsAre(Field(&LinkSettings::name, "wlan0"), Field(&LinkSettings::name, "lan0"),
                          Field(&LinkSettings::name, "wlan1")));
}

TEST(PlacesTest, ReadsWhereNodesAreWhen) {
  const Scenario scenario =
      ParseWifi("", {"nodes.n0.position=[1.5, -2]", "nodes.n1.waypoints=[0s 0 0, 2s 3e1 4 5]"});
  EXPECT_THAT(scenario.nodes[0].waypoints, ElementsAre(Waypoint{Duration(), 1.5, -2, 0}));
  EXPECT_THAT(scenario.nodes[1].waypoints,
              ElementsAre(Waypoint{}, Waypoint{Duration::Seconds(2), 30, 4, 5}));
  EXPECT_TRUE(scenario.nodes[2].waypoints.empty());
}

TEST(PlacesTest, OnlyItsNodesAreOnWifi) {
  const Scenario scenario =
      Parse("mode: simulate\nnodes: 3\nlinks:\n  - wifi: {nodes: [n0, n1]}\n  - {pair: [n1, n2]}\n",
            "f.yaml");
  EXPECT_TRUE(IsOnWifi(scenario, "n1"));
  EXPECT_FALSE(IsOnWifi(scenario, "n2"));
}

struct PlaceMistake {
  std::string override, error;
};

class PlaceMistakeTest : public testing::TestWithParam<PlaceMistake> {};

TEST_P(PlaceMistakeTest, IsNamed) {
  EXPECT_THAT(ErrorOf({GetParam().override}), HasSubstr(GetParam().error));
}

INSTANTIATE_TEST_SUITE_P(
    All, PlaceMistakeTest,
    testing::Values(
        PlaceMistake{"links.0.wifi.standard=80211z", "'80211z' is not one of 80211a"},
        PlaceMistake{"links.0.wifi.nodes=[n0, n9]", "links[0].wifi.nodes: there is no node 'n9'"},
        PlaceMistake{"links.0.wifi.nodes=[n0]",
                     "links[0].wifi.nodes: at least two nodes are needed"},
        PlaceMistake{"links.0.wifi.access_point=n9", "'n9' is not one of the channel's nodes"},
        PlaceMistake{"links.0.wifi.range=-5", "links[0].wifi.range: "},
        PlaceMistake{"links.0.wifi.range=nan", "links[0].wifi.range: "},
        PlaceMistake{"links.0.spec=delay=1ms", "links[0].spec: not supported for Wi-Fi"},
        PlaceMistake{"links.0.emulator=kernel", "links[0].emulator: not supported for Wi-Fi"},
        PlaceMistake{"links.0.mtu=2297", "links[0].mtu: the maximum over Wi-Fi is 2296"},
        PlaceMistake{"links.0={wifi: {nodes: all}, shared: all}", "this entry already has the key"},
        PlaceMistake{"routing.protocol=WMRP", "an RBridge needs links that carry"},
        PlaceMistake{"events=[{at: 1s, link: wlan0, set: loss=1%}]", "'wlan0' is Wi-Fi"},
        PlaceMistake{"nodes.n1.position=[nan, 0]", "nodes.n1.position: 'nan' is not a number"},
        PlaceMistake{"nodes.n1.position=[1e8, 0]", "nodes.n1.position: '1e8' is not a number"},
        PlaceMistake{"nodes.n1.position=[1]", "nodes.n1.position: expected two numbers, x and y"},
        PlaceMistake{"nodes.n1={position: [1, 1], waypoints: [0s 0 0, 1s 0 1]}",
                     "nodes.n1.position: cannot be combined with waypoints"},
        PlaceMistake{"nodes.n1.waypoints=[0s 0 0]", "two waypoints or more are needed"},
        PlaceMistake{"nodes.n1.waypoints=[]", "two waypoints or more are needed"},
        PlaceMistake{"nodes.n1.waypoints=[1s 0 0, 2s 0 1]",
                     "the first waypoint must be at 0s, not at 1s"},
        PlaceMistake{"nodes.n1.waypoints=[0s 0 0, 2s 0 1, 2s 0 2]",
                     "nodes.n1.waypoints: 2s is not after the time of the previous waypoint, 2s"},
        PlaceMistake{"nodes.n1.waypoints=[0s 0 0, 2s 0]", "'2s 0' is not a time, x and y"},
        PlaceMistake{"mobility.layout=random", "mobility.layout: random positions need an area"},
        PlaceMistake{"mobility.spacing=-1", "mobility.spacing: "},
        PlaceMistake{"mobility={layout: random, area: [1, 1], spacing: 3}",
                     "mobility.spacing: random positions have no spacing"},
        PlaceMistake{"mobility={layout: random, area: [10]}", "two numbers: width and height"},
        PlaceMistake{"mobility={layout: random, area: [10, 0]}", "mobility.area: \"0\""},
        PlaceMistake{"mobility.area=[10, 10]", "mobility.area: used only for random positions"},
        PlaceMistake{"mobility.attributes={A: b}",
                     "mobility.attributes: these are the attributes of a mobility model"},
        PlaceMistake{
            "mode=emulate",
            "wifi: not supported in mode emulate, because only ns-3 simulates Wi-Fi channels"},
        PlaceMistake{"mode=offload",
                     "not supported in mode offload, because only ns-3 simulates Wi-Fi channels; "
                     "use mode simulate"}));

TEST(PlacesTest, AFlowOverWifiNeedsARate) {
  EXPECT_THAT(ErrorOf({"flows=[{from: n0, to: n1}]"}), HasSubstr("flows[0].type: udp: 'n0' is on"));
  EXPECT_EQ(ErrorOf({"flows=[{from: n0, to: n1, rate: 1Mbit}]"}), "");
  EXPECT_EQ(ErrorOf({"flows=[{type: tcp, from: n0, to: n1}]"}), "");
}

TEST(PlacesTest, NodesMayBeSomewhereWithoutWifi) {
  const auto placed = [](const Scenario& scenario) {
    std::string names;
    for (const NodeSettings& node : scenario.nodes) {
      if (HasPlace(scenario, node)) names += node.name;
    }
    return names;
  };
  const auto parse = [](const std::string& links, const std::vector<std::string>& overrides) {
    return Parse("nodes: 3\nlinks:\n" + links, "scenario.yaml", overrides);
  };
  const std::string wires = "  - line: all\n";
  const std::string mixed = "  - wifi: {nodes: [n0, n1]}\n  - {pair: [n1, n2]}\n";
  EXPECT_EQ(placed(parse(wires, {})), "");
  EXPECT_EQ(placed(parse(wires, {"mode=offload", "mobility.layout=line"})), "n0n1n2");
  EXPECT_EQ(
      placed(parse(wires, {"mode=emulate", "nodes={n0: {}, n1: {position: [0, 0]}, n2: {}}"})),
      "n1");
  EXPECT_EQ(placed(parse(mixed, {"mode=simulate", "mobility.layout=line"})), "n0n1")
      << "the layout is of the nodes on Wi-Fi";
}

}  // namespace
}  // namespace viaduct::scenario
