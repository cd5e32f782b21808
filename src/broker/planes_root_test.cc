// Every data plane against the kernel's own forwarding: the same random packets over the same
// random network, and what arrives where is the same. Needs root.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "bpf/forwarder.h"
#include "broker/client.h"
#include "broker/test/plane_comparison.h"
#include "broker/test/random_network.h"

namespace viaduct::broker {
namespace {

constexpr int kPackets = 2000;

class PlanesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root (network namespaces)";
    if (const std::string why = bpf::WhyNot(); !why.empty()) GTEST_SKIP() << why;
    test::PinToOneProcessor();
  }
};

TEST_F(PlanesTest, WhatArrivesWhereIsAsWithTheKernelsOwnForwarding) {
  for (const uint64_t seed : {1, 2, 3}) {
    const test::Arrivals kernel = test::SendThrough(fib::kKernelPlane, seed, kPackets);
    for (const char* place : {"s/eth0", "d0/eth0", "d1/eth0"}) {
      EXPECT_GT(kernel.at.at(place).size(), size_t{kPackets / 40}) << place;
    }
    for (const fib::DataPlane* plane : test::ComparedPlanes()) {
      SCOPED_TRACE(testing::Message() << "plane " << plane->name << ", seed " << seed);
      const test::Arrivals seen = test::SendThrough(*plane, seed, kPackets);
      EXPECT_THAT(test::Differences(seen, kernel), testing::IsEmpty());
      EXPECT_GT(seen.by_plane, size_t{kPackets / 20});
    }
  }
}

// The program hands packets from node to node, so that captures on the way are complete.
TEST_F(PlanesTest, EveryHopOfTheEbpfPlaneSeesWhatTheKernelsWould) {
  const auto where = test::Where::kEverywhere;
  const test::Arrivals kernel = test::SendThrough(fib::kKernelPlane, 4, kPackets, where);
  const test::Arrivals ebpf = test::SendThrough(fib::kEbpfPlane, 4, kPackets, where);
  EXPECT_THAT(test::Differences(ebpf, kernel), testing::IsEmpty());
}

TEST_F(PlanesTest, ProtocolsThatFindRoutesOnDemandNeedTheKernel) {
  {
    Client client = Client::ConnectOrSpawn();
    client.CreateLab(test::MakeRandomNetwork(1, fib::kEbpfPlane).topology);
    EXPECT_THROW(client.OpenUpcalls("r0"), UsageError);
  }
  Client client = Client::ConnectOrSpawn();
  client.CreateLab(test::MakeRandomNetwork(1, fib::kAutoPlane).topology);
  EXPECT_EQ(client.Describe()["data_planes"]["r0"]["name"], "ebpf");
  EXPECT_EQ(client.Describe()["data_planes"]["s"]["name"], "kernel");
  const UniqueFd upcalls = client.OpenUpcalls("r0");
  EXPECT_EQ(client.Describe()["data_planes"]["r0"]["name"], "kernel");
}

}  // namespace
}  // namespace viaduct::broker
