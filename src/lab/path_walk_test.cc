#include "lab/path_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace viaduct::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

wire::MacAddress MacOf(size_t node, int ifindex) {
  wire::MacAddress mac;
  mac.bytes = {2, 0, 0, 0, static_cast<uint8_t>(node), static_cast<uint8_t>(ifindex)};
  return mac;
}

// Returns the ifindex of the interface's peer in the fabric.
int HubOf(size_t node, int ifindex) { return static_cast<int>(node) * 10 + ifindex + 100; }

WireEnd End(size_t node, int ifindex) {
  return {node, ifindex, MacOf(node, ifindex), HubOf(node, ifindex)};
}

// A ring of `count` nodes 0, 1, 2...: interface 1 leads to the previous node, 2 to the next.
class Ring final : public Routers {
 public:
  // `lossy`: the nodes whose frames on interface 2 may be lost.
  explicit Ring(size_t count, std::set<size_t> lossy = {})
      : lossy_(std::move(lossy)), map_(Wires(count)) {
    for (size_t i = 0; i < count; ++i) next_[i] = {2, MacOf((i + 1) % count, 1)};
  }

  std::optional<Interface> FindInterface(size_t node, int ifindex) override {
    if (down.contains({node, ifindex})) return std::nullopt;
    return Interface{ifindex == 2 ? mtus[node] : 1500, MacOf(node, ifindex)};
  }
  bool OnlyForwards(size_t node, int, wire::Family family) override {
    return !others.contains(node) && family == wire::Family::kIpv4;
  }
  std::optional<NextHop> FindNextHop(size_t node, const wire::IpAddress&, uint8_t) override {
    const auto found = next_.find(node);
    return found == next_.end() ? std::nullopt : std::optional(found->second);
  }

  // Makes node `to` the last node of the path: it has the destination.
  void Ends(size_t to) { next_.erase(to); }
  void Forwards(size_t node, int ifindex, const wire::MacAddress& mac) {
    next_[node] = {ifindex, mac};
  }

  // Walks the path of packets that node 0 sends by interface 2.
  Walk FromNode0(const char* destination = "10.9.9.9") {
    return WalkPath(map_, *this, {HubOf(0, 2), wire::IpAddress::Parse(destination)});
  }

  std::map<size_t, uint32_t> mtus;  // the MTU of each node's interface 2
  std::set<std::pair<size_t, int>> down;
  std::set<size_t> others;  // nodes that do other work than forwarding packets

 private:
  std::vector<Wire> Wires(size_t count) {
    std::vector<Wire> wires;
    for (size_t i = 0; i < count; ++i) {
      wires.push_back({End(i, 2), End((i + 1) % count, 1)});
      if (lossy_.contains(i)) wires.back().a.loss = bpf::RandomLoss{0.1, RandomStream(1, "loss")};
      mtus[i] = 1500;
    }
    return wires;
  }

  std::set<size_t> lossy_;
  WireMap map_;
  std::map<size_t, NextHop> next_;
};

std::vector<std::string> Describe(const Walk& walk) {
  std::vector<std::string> hops;
  for (const Hop& hop : walk.hops) {
    hops.push_back(std::to_string(hop.node) + ":" + std::to_string(hop.enters) + ">" +
                   std::to_string(hop.leaves));
  }
  return hops;
}

TEST(PathWalk, JoinsAllHopsUpToTheDestination) {
  Ring ring(5);
  ring.Ends(3);
  ring.mtus = {{0, 1000}, {1, 1400}, {2, 1300}};
  const Walk walk = ring.FromNode0();
  EXPECT_THAT(Describe(walk), ElementsAre("1:1>2", "2:1>2"));
  EXPECT_THAT(walk.nodes, ElementsAre(1, 2, 3));
  EXPECT_EQ(walk.path.hops, 2U);
  EXPECT_EQ(walk.path.mtu, 1300U);  // the MTU of the sender's interface does not count
  EXPECT_EQ(walk.path.exit, HubOf(3, 1));
  EXPECT_EQ(walk.path.enters, MacOf(1, 1));
  EXPECT_EQ(walk.path.source, MacOf(2, 2));
  EXPECT_EQ(walk.path.destination, MacOf(3, 1));
  EXPECT_THAT(walk.path.routers, ElementsAre(1, 2));
}

// The first wire is not among the path's lossy wires: this wire loses frames before the path of the
// frames is looked up.
TEST(PathWalk, NamesTheWiresThatLoseFrames) {
  Ring ring(6, {0, 2, 3, 4, 5});
  ring.Ends(5);
  const Walk walk = ring.FromNode0();
  EXPECT_THAT(walk.path.lossy_ends, ElementsAre(HubOf(2, 2), HubOf(3, 2), HubOf(4, 2)));
  std::vector<bool> may_lose;
  for (const Hop& hop : walk.hops) may_lose.push_back(hop.may_lose);
  EXPECT_THAT(may_lose, ElementsAre(false, true, true, true));
}

TEST(PathWalk, OneHop) {
  Ring ring(3);
  ring.Ends(2);
  EXPECT_THAT(Describe(ring.FromNode0()), ElementsAre("1:1>2"));
}

TEST(PathWalk, TheFirstRouterIsTheDestination) {
  Ring ring(3);
  ring.Ends(1);
  const Walk walk = ring.FromNode0();
  EXPECT_THAT(walk.hops, IsEmpty());
  EXPECT_EQ(walk.path.hops, 0U);
  EXPECT_THAT(walk.nodes, ElementsAre(1));
}

TEST(PathWalk, EndsAtWhoDoesMore) {
  Ring ring(6);
  ring.Ends(5);
  ring.others = {3};
  EXPECT_THAT(Describe(ring.FromNode0()), ElementsAre("1:1>2", "2:1>2"));
  ring.others = {1};
  EXPECT_THAT(ring.FromNode0().hops, IsEmpty());
}

TEST(PathWalk, EndsWhereAnInterfaceIsDown) {
  Ring ring(6);
  ring.Ends(5);
  ring.down = {{3, 2}};
  EXPECT_THAT(Describe(ring.FromNode0()), ElementsAre("1:1>2", "2:1>2"));
  ring.down = {{3, 1}};
  EXPECT_THAT(Describe(ring.FromNode0()), ElementsAre("1:1>2"));
}

TEST(PathWalk, EndsBeforeANeighbourThatIsNotTheWires) {
  Ring ring(6);
  ring.Ends(5);
  ring.Forwards(2, 2, MacOf(4, 1));
  EXPECT_THAT(Describe(ring.FromNode0()), ElementsAre("1:1>2"));
}

TEST(PathWalk, EndsBeforeWhatGoesBack) {
  Ring ring(6);
  ring.Forwards(3, 1, MacOf(2, 2));
  EXPECT_THAT(Describe(ring.FromNode0()), ElementsAre("1:1>2", "2:1>2"));
}

TEST(PathWalk, ALoopGoesByHop) {
  Ring ring(4);
  const Walk walk = ring.FromNode0();
  EXPECT_THAT(walk.hops, IsEmpty());
  EXPECT_EQ(walk.path.hops, 0U);
  EXPECT_THAT(walk.nodes, ElementsAre(1, 2, 3, 0));
}

TEST(PathWalk, AFamilyThatIsNotForwarded) {
  Ring ring(4);
  ring.Ends(3);
  EXPECT_THAT(ring.FromNode0("2001:db8::9").hops, IsEmpty());
}

TEST(PathWalk, ALongPathIsJoinedInPieces) {
  constexpr size_t kCount = VIADUCT_MOST_HOPS + 20;
  Ring ring(kCount);
  ring.Ends(kCount - 1);
  const Walk walk = ring.FromNode0();
  EXPECT_EQ(walk.path.hops, uint32_t{VIADUCT_MOST_HOPS});
  EXPECT_EQ(walk.path.exit, HubOf(VIADUCT_MOST_HOPS + 1, 1));
}

TEST(PathWalk, FromNowhere) {
  Ring ring(3);
  EXPECT_THAT(WalkPath(WireMap({}), ring, {7, wire::IpAddress::Parse("10.0.0.1")}).hops, IsEmpty());
}

}  // namespace
}  // namespace viaduct::lab
