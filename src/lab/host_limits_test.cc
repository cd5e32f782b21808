#include "lab/host_limits.h"

#include <gmock/gmock.h>

namespace viaduct::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Returns a topology with one shared link of `nodes` nodes, each with one address.
Topology Lan(int nodes, const std::string& network) {
  Topology topology;
  Link lan{"lan", Link::Kind::kBridge, {}, {}, Emulator::kEngine};
  for (int i = 0; i < nodes; ++i) {
    Interface interface;
    interface.name = "eth0";
    interface.addresses = {wire::IpPrefix::Parse(network)};
    Node node;
    node.name = "n" + std::to_string(i);
    node.interfaces.push_back(interface);
    topology.nodes.push_back(node);
    lan.endpoints.push_back({node.name, "eth0"});
  }
  topology.links.push_back(lan);
  return topology;
}

ReadLimit Always(uint64_t limit) {
  return [limit](const std::string&) { return limit; };
}

TEST(HostLimits, NeighboursOfALanAreCountedByFamily) {
  EXPECT_THAT(ExceededLimits(Lan(40, "10.0.0.1/24"), Always(1560)), IsEmpty());
  EXPECT_THAT(ExceededLimits(Lan(40, "10.0.0.1/24"), Always(1024)),
              ElementsAre(HasSubstr("1560 neighbours, but this machine's kernel stores only 1024 "
                                    "for all nodes and drops packets to other neighbours; run "
                                    "sysctl -w net.ipv4.neigh.default.gc_thresh3=4096")));
  EXPECT_THAT(ExceededLimits(Lan(40, "fd00::1/64"), Always(1024)),
              ElementsAre(HasSubstr("net.ipv6.neigh.default.gc_thresh3=4096")));
}

TEST(HostLimits, NobodyCountsWhoseKernelResolvesNoAddresses) {
  Topology topology = Lan(40, "10.0.0.1/24");
  for (Node& node : topology.nodes) node.data_plane = &fib::kSimulatorPlane;
  EXPECT_THAT(ExceededLimits(topology, Always(1)), IsEmpty());
  EXPECT_THAT(ExceededLimits({}, Always(0)), IsEmpty());
}

TEST(HostLimits, WhatCannotBeReadIsNotJudged) {
  EXPECT_THAT(ExceededLimits(Lan(40, "10.0.0.1/24"), [](const auto&) { return std::nullopt; }),
              IsEmpty());
}

}  // namespace
}  // namespace viaduct::lab
