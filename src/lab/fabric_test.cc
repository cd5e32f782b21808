#include "lab/fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace viaduct::lab {
namespace {

using ::testing::IsEmpty;

const path::Spec kDelay = path::ParseSpec("delay=10ms");
const path::Spec kRate = path::ParseSpec("rate=1Mbit");

Link Pair(std::vector<path::Spec> specs, Emulator emulator = Emulator::kEngine) {
  return {"a-b", Link::Kind::kPair, {{"a", "eth0"}, {"b", "eth0"}}, std::move(specs), emulator};
}

Topology With(Link link) {
  Topology topology;
  for (const char* name : {"a", "b", "c"}) {
    Node node;
    node.name = name;
    node.interfaces.push_back({"eth0", {}, {}, name[0] == 'b' ? 9000 : 1500, {}});
    topology.nodes.push_back(node);
  }
  topology.links.push_back(std::move(link));
  return topology;
}

TEST(Fabric, AWireWhoseSpecMayChangeIsTheEngines) {
  Link wire = Pair({path::Spec(), path::Spec()});
  EXPECT_THAT(FabricPairs(With(wire)), IsEmpty());
  wire.live = true;
  EXPECT_EQ(FabricPairs(With(wire)).size(), 1U);
  wire.kind = Link::Kind::kBridge;
  EXPECT_EQ(FabricPairs(With(wire)).size(), 2U);
}

TEST(Fabric, APairWithASpecIsOneEnginePair) {
  const Topology topology = With(Pair({kDelay, path::Spec()}));
  const auto pairs = FabricPairs(topology);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].name, "a-b");
  EXPECT_EQ(pairs[0].a.interface, FabricPort(0, 0));
  EXPECT_EQ(pairs[0].b.interface, FabricPort(0, 1));
  EXPECT_EQ(pairs[0].up, kDelay);
  EXPECT_EQ(pairs[0].down, path::Spec());
  EXPECT_EQ(pairs[0].mtu, 9000);
  EXPECT_TRUE(NeedsFabric(topology));
}

TEST(Fabric, ClassesAreTheEnginesOnEveryKindOfLink) {
  const path::TrafficClass dns{"dns", "udp port 53", kDelay, kRate};
  Link link = Pair({path::Spec(), path::Spec()});
  link.classes = {dns};
  EXPECT_FALSE(link.IsPlainWire());
  auto pairs = FabricPairs(With(link));
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].classes, link.classes);
  link.kind = Link::Kind::kBridge;
  pairs = FabricPairs(With(link));
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[1].classes, link.classes);
  // At a tunnel, each host emulates the frames that its own end sends, with the SPEC of their
  // direction on the link.
  for (const int end : {0, 1}) {
    Link tunnel{"a-b", Link::Kind::kTunnel, {{"a", "eth0"}}, {path::Spec()}};
    tunnel.tunnel.emplace().end = end;
    tunnel.classes = {dns};
    pairs = FabricPairs(With(tunnel));
    ASSERT_EQ(pairs.size(), 1U);
    ASSERT_EQ(pairs[0].classes.size(), 1U);
    EXPECT_EQ(pairs[0].classes[0].up, end == 0 ? kDelay : path::Spec());
    EXPECT_EQ(pairs[0].classes[0].down, end == 0 ? path::Spec() : kRate);
  }
}

TEST(Fabric, PlainWiresAndQdiscsNeedNoEngine) {
  for (const Link& link :
       {Pair({}), Pair({path::Spec(), path::Spec()}), Pair({kDelay, kDelay}, Emulator::kKernel)}) {
    EXPECT_THAT(FabricPairs(With(link)), IsEmpty());
    EXPECT_FALSE(NeedsFabric(With(link)));
  }
}

// Returns a topology with the link, in which the node b is remote.
Topology Remotely(Link link) {
  Topology topology = With(std::move(link));
  Remote remote;
  remote.name = "b";
  remote.interface = topology.nodes[1].interfaces[0];
  topology.nodes.erase(topology.nodes.begin() + 1);
  topology.remotes = {remote};
  return topology;
}

TEST(Fabric, ALinkOfARemoteNodeIsTheEnginesWithOrWithoutASpec) {
  for (const Link& link : {Pair({}), Pair({path::Spec(), kDelay})}) {
    const auto pairs = FabricPairs(Remotely(link));
    ASSERT_EQ(pairs.size(), 1U);
    EXPECT_EQ(pairs[0].a, (FabricEnd{FabricPort(0, 0), std::nullopt}));
    EXPECT_EQ(pairs[0].b, (FabricEnd{"", 0}));
    EXPECT_EQ(pairs[0].down, link.specs.empty() ? path::Spec() : kDelay);
    EXPECT_EQ(pairs[0].mtu, 9000);
    EXPECT_FALSE(IsJoined(Remotely(link), link));
    EXPECT_TRUE(NeedsFabric(Remotely(link)));
  }
  Link lan = Pair({});
  lan.kind = Link::Kind::kBridge;
  const auto pairs = FabricPairs(Remotely(lan));
  ASSERT_EQ(pairs.size(), 1U) << "the other one is on the bridge itself";
  EXPECT_EQ(pairs[0].a, (FabricEnd{"", 0}));
  EXPECT_EQ(pairs[0].b, (FabricEnd{FabricInnerPort(0, 1), std::nullopt}));
}

TEST(Fabric, ASharedLinkIsAPairForEachEndpointWithASpec) {
  const Link lan{"lan",
                 Link::Kind::kBridge,
                 {{"a", "eth0"}, {"b", "eth0"}, {"b", "eth1"}, {"c", "eth0"}},
                 {kDelay, path::Spec(), kRate, kRate},
                 Emulator::kEngine};
  const auto pairs = FabricPairs(With(lan));
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs[0].name, "lan.a");
  EXPECT_EQ(pairs[0].up, kDelay);
  EXPECT_EQ(pairs[0].down, path::Spec()) << "what the others send was delayed by their own";
  EXPECT_EQ(pairs[0].a.interface, FabricPort(0, 0));
  EXPECT_EQ(pairs[0].b.interface, FabricInnerPort(0, 0));
  EXPECT_EQ(pairs[1].name, "lan.b-2") << "the node's second endpoint";
  EXPECT_EQ(pairs[2].name, "lan.c");
}

Topology Joined(Link link) {
  Topology topology = With(std::move(link));
  for (Node& node : topology.nodes) node.data_plane = &fib::kJoinedPlane;
  return topology;
}

// Whether the ends of the first link lead into the fabric without the engine between them.
bool IsJoinedAlone(const Topology& topology) {
  return IsJoined(topology, topology.links[0]) && FabricPairs(topology).empty();
}

TEST(Fabric, RandomLossAloneIsForJoinedPaths) {
  const path::Spec loss = path::ParseSpec("loss=1%");
  EXPECT_TRUE(IsJoinedAlone(Joined(Pair({loss, path::Spec()}))));
  EXPECT_TRUE(IsJoinedAlone(Joined(Pair({}))));
  EXPECT_FALSE(IsJoinedAlone(With(Pair({loss, loss}))));
  EXPECT_FALSE(IsJoinedAlone(Joined(Pair({loss, kDelay}))));
  EXPECT_FALSE(IsJoinedAlone(Joined(Pair({loss, loss}, Emulator::kKernel))));
  Link live = Pair({loss, loss});
  live.live = true;
  EXPECT_FALSE(IsJoinedAlone(Joined(live)));
  EXPECT_EQ(FabricPairs(Joined(live)).size(), 1U);
}

TEST(Fabric, WhichSpecsOnlyLoseFrames) {
  EXPECT_EQ(LossOf(path::Spec()), 0);
  EXPECT_EQ(LossOf(path::ParseSpec("loss=25%")), 0.25);
  for (const char* more : {"loss=1% delay=1ms", "loss=1%:corr=5%", "loss=1%+2%", "rate=1Mbit",
                           "loss=gemodel:p=1%,r=10%"}) {
    EXPECT_EQ(LossOf(path::ParseSpec(more)), std::nullopt) << more;
  }
}

// The loss model counts frames as they are on a wire, so that super-frames are not allowed.
TEST(Fabric, FramesThatMayBeLostAreNoSuperFrames) {
  const path::Spec loss = path::ParseSpec("loss=1%");
  const Topology plain = Joined(Pair({})), lossy = Joined(Pair({loss, path::Spec()}));
  EXPECT_FALSE(NeedsWireFrames(plain, plain.links[0], 0));
  EXPECT_TRUE(NeedsWireFrames(lossy, lossy.links[0], 0));
  EXPECT_TRUE(NeedsWireFrames(lossy, lossy.links[0], 1));
}

}  // namespace
}  // namespace viaduct::lab
