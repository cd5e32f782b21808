#include "lab/hub.h"

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

TEST(Hub, AWireWhoseSpecMayChangeIsTheEngines) {
  Link wire = Pair({path::Spec(), path::Spec()});
  EXPECT_THAT(HubPairs(With(wire)), IsEmpty());
  wire.live = true;
  EXPECT_EQ(HubPairs(With(wire)).size(), 1U);
  wire.kind = Link::Kind::kBridge;
  EXPECT_EQ(HubPairs(With(wire)).size(), 2U);
}

TEST(Hub, APairWithASpecIsOneEnginePair) {
  const Topology topology = With(Pair({kDelay, path::Spec()}));
  const auto pairs = HubPairs(topology);
  ASSERT_EQ(pairs.size(), 1U);
  EXPECT_EQ(pairs[0].name, "a-b");
  EXPECT_EQ(pairs[0].a, HubPort(0, 0));
  EXPECT_EQ(pairs[0].b, HubPort(0, 1));
  EXPECT_EQ(pairs[0].up, kDelay);
  EXPECT_EQ(pairs[0].down, path::Spec());
  EXPECT_EQ(pairs[0].mtu, 9000);
  EXPECT_TRUE(NeedsHub(topology));
}

TEST(Hub, PlainWiresAndQdiscsNeedNoEngine) {
  for (const Link& link :
       {Pair({}), Pair({path::Spec(), path::Spec()}), Pair({kDelay, kDelay}, Emulator::kKernel)}) {
    EXPECT_THAT(HubPairs(With(link)), IsEmpty());
    EXPECT_FALSE(NeedsHub(With(link)));
  }
}

TEST(Hub, ASharedLinkIsAPairForEachEndpointWithASpec) {
  const Link lan{"lan",
                 Link::Kind::kBridge,
                 {{"a", "eth0"}, {"b", "eth0"}, {"b", "eth1"}, {"c", "eth0"}},
                 {kDelay, path::Spec(), kRate, kRate},
                 Emulator::kEngine};
  const auto pairs = HubPairs(With(lan));
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs[0].name, "lan.a");
  EXPECT_EQ(pairs[0].up, kDelay);
  EXPECT_EQ(pairs[0].down, path::Spec()) << "what the others send was delayed by their own";
  EXPECT_EQ(pairs[0].a, HubPort(0, 0));
  EXPECT_EQ(pairs[0].b, HubInnerPort(0, 0));
  EXPECT_EQ(pairs[1].name, "lan.b-2") << "the node's second endpoint";
  EXPECT_EQ(pairs[2].name, "lan.c");
}

}  // namespace
}  // namespace viaduct::lab
