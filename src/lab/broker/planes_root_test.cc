// Compares every data plane with the kernel's own forwarding: the same random packets over the same
// random network must arrive at the same places in the same form. Needs root.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "lab/broker/client.h"
#include "lab/broker/test/plane_comparison.h"
#include "plane/bpf/forward_program.h"

namespace viaduct::broker {
namespace {

constexpr int kPackets = 2000;

class PlanesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
    if (const std::string why = bpf::Unavailable(); !why.empty()) GTEST_SKIP() << why;
    test::PinToOneProcessor();
  }
};

TEST(PlaneComparisonTest, WhatTheClockDecidesIsNoDifferenceOfPlanes) {
  test::Arrivals kernel;
  kernel.forwarded = {{"r0", 70}, {"s", 5}};
  kernel.clocked = {{"s/eth0", 3}};
  test::Arrivals plane = kernel;
  EXPECT_EQ(test::ForwardedOtherwise(plane, kernel), "");
  plane.forwarded["s"] = 7;
  EXPECT_NE(test::ForwardedOtherwise(plane, kernel), "");
  // The host forwarded two more of the answers ("no route") whose rate the router limits to one a
  // second: the numbers of forwarded packets are then not compared.
  plane.clocked["s/eth0"] = 5;
  EXPECT_EQ(test::ForwardedOtherwise(plane, kernel), "");
}

TEST_F(PlanesTest, WhatArrivesWhereIsAsWithTheKernelsOwnForwarding) {
  for (const uint64_t seed : {1, 2, 3}) {
    std::map<test::EqualPaths, test::Arrivals> kernels;
    for (const fib::DataPlane* plane : test::ComparedPlanes()) {
      SCOPED_TRACE(testing::Message() << "plane " << plane->name << ", seed " << seed);
      const test::EqualPaths paths = test::PathsFor(*plane);
      if (!kernels.contains(paths)) {
        kernels[paths] = test::SendThrough(fib::kKernelPlane, seed, kPackets, paths);
      }
      const test::Arrivals& kernel = kernels[paths];
      EXPECT_GT(kernel.at.at("s/eth0").size(), size_t{kPackets / 40});
      EXPECT_GT(kernel.at.at("d0/eth0").size() + kernel.at.at("d1/eth0").size(),
                size_t{kPackets / 40});
      const test::Arrivals seen = test::SendThrough(*plane, seed, kPackets, paths);
      EXPECT_THAT(test::Differences(seen, kernel), testing::IsEmpty());
      EXPECT_GT(seen.by_plane, size_t{kPackets / 20});
    }
  }
}

// The eBPF program passes packets from node to node, so that captures at every node are complete.
TEST_F(PlanesTest, EveryHopOfTheEbpfPlaneSeesWhatTheKernelsWould) {
  const auto where = test::Where::kEverywhere;
  const auto paths = test::EqualPaths::kAll;
  const test::Arrivals kernel = test::SendThrough(fib::kKernelPlane, 4, kPackets, paths, where);
  const test::Arrivals ebpf = test::SendThrough(fib::kEbpfPlane, 4, kPackets, paths, where);
  EXPECT_THAT(test::Differences(ebpf, kernel), testing::IsEmpty());
}

TEST_F(PlanesTest, PacketsWithoutARouteGoUpFromAllPlanes) {
  const std::set families = {wire::Family::kIpv4, wire::Family::kIpv6};
  for (const fib::DataPlane* plane :
       {&fib::kKernelPlane, &fib::kEbpfPlane, &fib::kUserspacePlane, &fib::kAutoPlane}) {
    lab::Topology on_demand = test::MakeRandomNetwork(1, *plane).topology;
    for (lab::Node& node : on_demand.nodes) node.by_hop = "its protocol decides about packets";
    Client client = Client::ConnectOrSpawn();
    client.CreateLab(on_demand);
    const nlohmann::json before = client.Describe()["data_planes"]["r0"]["name"];
    const UniqueFd upcalls = client.OpenUpcalls("r0", families);
    EXPECT_EQ(client.Describe()["data_planes"]["r0"]["name"], before);
  }
}

}  // namespace
}  // namespace viaduct::broker
