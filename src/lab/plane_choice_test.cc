#include "lab/plane_choice.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace viaduct::lab {
namespace {

// Returns the line n0 - n1 - ... - nLAST of nodes with the data plane `auto`.
Topology OpenLine(int last, const std::string& spec = "") {
  Topology topology;
  for (int i = 0; i <= last; ++i) {
    Node node;
    node.name = fmt::format("n{}", i);
    node.data_plane = &fib::kAutoPlane;
    for (int j = 0; j < (i == 0 || i == last ? 1 : 2); ++j) {
      node.interfaces.emplace_back();
      node.interfaces.back().name = fmt::format("eth{}", j);
    }
    topology.nodes.push_back(node);
  }
  for (int i = 0; i < last; ++i) {
    Link link{
        fmt::format("l{}", i),
        Link::Kind::kPair,
        {{fmt::format("n{}", i), i == 0 ? "eth0" : "eth1"}, {fmt::format("n{}", i + 1), "eth0"}},
        {}};
    if (!spec.empty()) link.specs.assign(2, path::ParseSpec(spec));
    topology.links.push_back(link);
  }
  return topology;
}

// Returns the numbers of the nodes that got the plane `joined`: "1 2".
std::string Joined(Topology topology) {
  ChooseJoined(&topology);
  std::string names;
  for (const Node& node : topology.nodes) {
    if (node.data_plane != &fib::kJoinedPlane) continue;
    names += (names.empty() ? "" : " ") + node.name.substr(1);
  }
  return names;
}

TEST(PlaneChoice, RoutersInARow) {
  EXPECT_EQ(Joined(OpenLine(5)), "1 2 3 4");
  EXPECT_EQ(Joined(OpenLine(3)), "1 2");
  EXPECT_EQ(Joined(OpenLine(2)), "") << "one router";
  EXPECT_EQ(Joined(OpenLine(1)), "");
  EXPECT_EQ(Joined(Topology()), "");
}

TEST(PlaneChoice, SaysWhy) {
  Topology topology = OpenLine(3);
  topology.nodes[1].by_hop = "link l1 is captured";
  const auto reasons = ChooseJoined(&topology);
  EXPECT_EQ(
      reasons.at("n0"),
      "no link without a SPEC, or with only random loss, connects this node to another router");
  EXPECT_EQ(reasons.at("n1"), "link l1 is captured");
  EXPECT_EQ(
      reasons.at("n2"),
      "no link without a SPEC, or with only random loss, connects this node to another router");
  topology = OpenLine(3);
  EXPECT_EQ(ChooseJoined(&topology).at("n1"), "forwards over several links in one step");
}

TEST(PlaneChoice, WiresThatTheEngineEmulatesAreNotInTheWay) {
  EXPECT_EQ(Joined(OpenLine(5, "delay=1ms")), "");
  Topology middle = OpenLine(5);
  middle.links[2].specs.assign(2, path::ParseSpec("rate=1Mbit"));
  EXPECT_EQ(Joined(middle), "") << "no router has another beside it and a second wire";
}

TEST(PlaneChoice, RandomLossNeedsNoEngine) {
  EXPECT_EQ(Joined(OpenLine(1, "loss=1%")), "0 1");
  EXPECT_EQ(Joined(OpenLine(3, "loss=1%")), "0 1 2 3");
  Topology captured = OpenLine(2, "loss=1%");
  captured.nodes[1].by_hop = "link l1 is captured";
  EXPECT_EQ(Joined(captured), "0 1 2") << "the wires lose, whether paths are joined or not";
}

TEST(PlaneChoice, OthersAreLeftAsTheyAre) {
  Topology topology = OpenLine(4);
  topology.nodes[1].data_plane = &fib::kKernelPlane;
  EXPECT_EQ(Joined(topology), "2 3");
  topology.nodes[2].data_plane = &fib::kSimulatorPlane;
  EXPECT_EQ(Joined(topology), "");
  topology.nodes[2].data_plane = &fib::kJoinedPlane;
  EXPECT_EQ(Joined(topology), "2 3");
  EXPECT_FALSE(ChooseJoined(&topology).contains("n2"));
}

}  // namespace
}  // namespace viaduct::lab
