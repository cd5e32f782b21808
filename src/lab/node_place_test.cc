#include "lab/node_place.h"

#include <gmock/gmock.h>

namespace viaduct::lab {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;

Node MakeNode(const std::string& name, size_t interfaces) {
  Node node;
  node.name = name;
  for (size_t i = 0; i < interfaces; ++i) {
    node.interfaces.emplace_back();
    node.interfaces.back().name = "eth" + std::to_string(i);
  }
  return node;
}

// Returns two nodes with `links` links between them, each link at separate interfaces.
Topology Parallel(size_t links) {
  Topology topology;
  topology.name = "parallel";
  topology.nodes = {MakeNode("a", links), MakeNode("b", links)};
  for (size_t i = 0; i < links; ++i) {
    const std::string interface = "eth" + std::to_string(i);
    topology.links.push_back(
        {"link" + std::to_string(i), Link::Kind::kPair, {{"a", interface}, {"b", interface}}, {}});
  }
  return topology;
}

TEST(NodePlaceTest, PlainPairsAreWires) {
  const Topology topology = Parallel(2);
  const fib::NodePlace place = PlaceOf(topology, topology.nodes[1], 7);
  EXPECT_EQ(place.namespace_fd, 7);
  EXPECT_THAT(place.interfaces, ElementsAre("eth0", "eth1"));
  EXPECT_THAT(place.wires, ElementsAre(Key("eth0"), Key("eth1")));
  EXPECT_THAT(PlaceOf(Parallel(0), Parallel(0).nodes[0], 7).wires, IsEmpty());
}

TEST(NodePlaceTest, WhatStandsInTheWayMakesItNone) {
  Topology topology = Parallel(6);
  topology.links[0].specs = {path::ParseSpec("delay=1ms"), path::Spec()};
  topology.links[1].specs = {path::Spec(), path::ParseSpec("rate=1Mbit")};
  topology.links[1].emulator = Emulator::kKernel;
  topology.links[2].kind = Link::Kind::kBridge;
  topology.links[3].specs.resize(2);
  topology.links[3].live = true;
  topology.links[4].endpoints[1] = {"a", "eth5"};  // both ends of the link are in one namespace
  topology.links[5].endpoints[0] = {"a", "eth5"};
  EXPECT_THAT(PlaceOf(topology, topology.nodes[0], -1).wires, ElementsAre(Key("eth5")));
}

TEST(NodePlaceTest, BothEndsMustKeepTheirOffloads) {
  Topology topology = Parallel(1);
  topology.nodes[1].data_plane = &fib::kSimulatorPlane;
  EXPECT_THAT(PlaceOf(topology, topology.nodes[0], -1).wires, IsEmpty());
  EXPECT_THAT(PlaceOf(topology, topology.nodes[1], -1).wires, ElementsAre(Key("eth0")))
      << "whose frames never rely on them";
}

TEST(NodePlaceTest, PhysicalInterfacesAreNotTheLabs) {
  Topology topology = Parallel(2);
  topology.nodes[0].interfaces[0].physical = "enp3s0";
  topology.links.erase(topology.links.begin());
  const fib::NodePlace place = PlaceOf(topology, topology.nodes[0], -1);
  EXPECT_THAT(place.interfaces, ElementsAre("eth1"));
  EXPECT_THAT(place.wires, ElementsAre(Key("eth1")));
}

}  // namespace
}  // namespace viaduct::lab
