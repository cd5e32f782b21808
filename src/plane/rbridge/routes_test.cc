#include "plane/rbridge/routes.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>

namespace viaduct::rbridge {
namespace {

SystemId System(int number) {
  return {{2, 0, 0, 0, static_cast<uint8_t>(number >> 8), static_cast<uint8_t>(number)}};
}

wire::MacAddress MacOn(int rbridge, int neighbour) {
  return {{4, 0, 0, 0, static_cast<uint8_t>(rbridge), static_cast<uint8_t>(neighbour)}};
}

// A network of RBridges numbered from 1, whose nicknames are their numbers.
class Network {
 public:
  explicit Network(int count) : tables_(count + 1) {
    for (int i = 1; i <= count; ++i) {
      states_[System(i)].claim = {
          .nickname = static_cast<Nickname>(i), .priority = 64, .root_priority = 1};
      states_[System(i)].max_trees = kMaxTrees;
    }
  }
  LspContent& operator[](int number) { return states_[System(number)]; }
  void Link(int a, int b, uint32_t metric = 1) {
    states_[System(a)].neighbours.push_back({System(b), metric});
    states_[System(b)].neighbours.push_back({System(a), metric});
  }
  // Computes the tables of RBridge `self`. The index of each adjacency is the neighbour's number.
  const Tables& Compute(int self) {
    auto& tables = tables_[self];
    tables = std::make_unique<Tables>();
    tables->Clear();
    std::vector<OwnAdjacency> own;
    for (const auto& neighbour : states_[System(self)].neighbours) {
      const int number = neighbour.system.bytes[4] << 8 | neighbour.system.bytes[5];
      own.push_back({static_cast<AdjacencyIndex>(number), neighbour.system, MacOn(self, number),
                     MacOn(number, self)});
    }
    Routes(System(self)).Compute(states_, own, *tables);
    return *tables;
  }
  int size() const { return static_cast<int>(tables_.size()) - 1; }
  const LinkStates& states() const { return states_; }

 private:
  LinkStates states_;
  std::vector<std::unique_ptr<Tables>> tables_;
};

const RBridgeEntry& EntryFor(const Tables& tables, Nickname nickname) {
  return tables.rbridges[tables.by_nickname[nickname]];
}

TEST(RoutesTest, AloneItIsItsOwnTree) {
  Network network(1);
  const Tables& tables = network.Compute(1);
  EXPECT_EQ(tables.by_nickname[1], 0);
  EXPECT_EQ(EntryFor(tables, 1).next_hop, kNone);
  EXPECT_EQ(tables.trees[0].root, 1);
  EXPECT_EQ(tables.own_tree, 0);
  EXPECT_TRUE(tables.trees[0].neighbours.none());
}

TEST(RoutesTest, ShortestPathsAndEqualOnes) {
  Network network(5);
  network.Link(1, 3);
  network.Link(1, 2);
  network.Link(2, 4);
  network.Link(3, 4);
  network.Link(4, 5, 7);
  network.Link(1, 5, 100);
  const Tables& tables = network.Compute(1);
  EXPECT_EQ(EntryFor(tables, 3).next_hop, 3);
  EXPECT_EQ(EntryFor(tables, 4).next_hop, 2) << "of equal ones by the lower identifier";
  EXPECT_EQ(EntryFor(tables, 5).next_hop, 2) << "9 is less than 100";
}

TEST(RoutesTest, ALinkThatOneEndReportsDoesNotCount) {
  Network network(2);
  network[1].neighbours.push_back({System(2), 1});
  EXPECT_EQ(network.Compute(1).by_nickname[2], kNone);
}

TEST(RoutesTest, NicknamesByPriorityThenIdentifier) {
  Network network(3);
  for (int i : {1, 2, 3}) network[i].claim->nickname = 9;
  EXPECT_EQ(NicknameOwners(network.states()).at(9), System(3));
  network[1].claim->priority = 65;
  EXPECT_EQ(NicknameOwners(network.states()).at(9), System(1));
  network.Link(1, 2);
  network.Link(2, 3);
  const Tables& tables = network.Compute(2);
  EXPECT_EQ(EntryFor(tables, 9).next_hop, 1) << "frames go to the one that keeps it";
}

TEST(RoutesTest, RootsByPriorityThenIdentifier) {
  Network network(3);
  network.Link(1, 2);
  network.Link(2, 3);
  EXPECT_EQ(network.Compute(1).trees[0].root, 3);
  network[2].claim->root_priority = 2;
  network[2].trees = 2;
  const Tables& tables = network.Compute(1);
  EXPECT_EQ(tables.trees[0].root, 2);
  EXPECT_EQ(tables.trees[1].root, 3);
  EXPECT_EQ(tables.own_tree, 0) << "the nearest";
  EXPECT_EQ(tables.trees[2].root, kNoNickname) << "as many as the first says";
  EXPECT_EQ(network.Compute(3).own_tree, 1);
  network[1].max_trees = 1;
  EXPECT_EQ(network.Compute(1).trees[1].root, kNoNickname) << "not more than all can";
  for (int i : {1, 2, 3}) network[i].claim->root_priority = 0;
  EXPECT_EQ(network.Compute(1).own_tree, kMaxTrees) << "nobody wants to be one";
}

TEST(RoutesTest, EqualParentsTakeTurns) {
  // RFC 6325 section 4.5.1: in the trees with root 1, RBridge 4 has the potential parents 2 and 3;
  // tree 1 uses the second of them (index 1 modulo 2).
  Network network(4);
  network.Link(1, 2);
  network.Link(1, 3);
  network.Link(2, 4);
  network.Link(3, 4);
  network[1].claim->root_priority = 9;
  const Tables& tables = network.Compute(4);
  EXPECT_TRUE(tables.trees[0].neighbours[3]);
  EXPECT_FALSE(tables.trees[0].neighbours[2]);
}

TEST(RoutesTest, OfParallelLinksBothEndsTakeTheSame) {
  const LinkStates states = [] {
    Network network(2);
    network.Link(1, 2);
    return network.states();
  }();
  // On the two links, the addresses of RBridge 1's ports are in the opposite order of the addresses
  // of RBridge 2's ports.
  const auto adjacency = [](AdjacencyIndex index, int neighbour, uint8_t own, uint8_t other) {
    return OwnAdjacency{index, System(neighbour), {{2, 0, 0, 0, 1, own}}, {{2, 0, 0, 0, 2, other}}};
  };
  auto tables = std::make_unique<Tables>();
  tables->Clear();
  Routes(System(1)).Compute(states, {adjacency(0, 2, 5, 1), adjacency(1, 2, 4, 2)}, *tables);
  EXPECT_EQ(EntryFor(*tables, 2).next_hop, 1);
  const auto back = [](AdjacencyIndex index, uint8_t own, uint8_t other) {
    return OwnAdjacency{index, System(1), {{2, 0, 0, 0, 2, own}}, {{2, 0, 0, 0, 1, other}}};
  };
  tables->Clear();
  Routes(System(2)).Compute(states, {back(0, 1, 5), back(1, 2, 4)}, *tables);
  EXPECT_EQ(EntryFor(*tables, 1).next_hop, 1);
}

// Follows a frame of RBridge `ingress` through a tree; returns the number of times that each
// RBridge receives it.
std::map<int, int> Flood(std::vector<const Tables*>& tables, int ingress, size_t tree) {
  std::map<int, int> received;
  std::function<void(int, int)> send = [&](int at, int from) {
    ++received[at];
    for (int next = 1; next < static_cast<int>(tables.size()); ++next) {
      if (next == from || !tables[at]->trees[tree].neighbours[next]) continue;
      // The reverse-path check of the RBridge that receives the frame.
      const Tables& there = *tables[next];
      if (EntryFor(there, static_cast<Nickname>(ingress)).tree_neighbour[tree] == at)
        send(next, at);
    }
  };
  send(ingress, 0);
  return received;
}

TEST(RoutesTest, TreesReachEveryoneOnceInRandomNetworks) {
  std::mt19937 random(1);
  for (int round = 0; round < 30; ++round) {
    const int count = 2 + static_cast<int>(random() % 20);
    Network network(count);
    for (int i = 2; i <= count; ++i) {
      network.Link(i, 1 + static_cast<int>(random() % (i - 1)), 1 + random() % 3);
    }
    for (int i = 0; i < count; ++i) {
      const int a = 1 + static_cast<int>(random() % count),
                b = 1 + static_cast<int>(random() % count);
      if (a != b) network.Link(a, b, 1 + random() % 3);
    }
    network[count].trees = 3;
    std::vector<const Tables*> tables{nullptr};
    for (int i = 1; i <= count; ++i) tables.push_back(&network.Compute(i));
    for (size_t tree = 0; tree < std::min<size_t>(3, count); ++tree) {
      for (int ingress = 1; ingress <= count; ++ingress) {
        const auto received = Flood(tables, ingress, tree);
        EXPECT_EQ(received.size(), static_cast<size_t>(count)) << "round " << round;
        for (const auto& [who, times] : received) EXPECT_EQ(times, 1) << who;
      }
    }
  }
}

TEST(RoutesTest, PlacesStayWhileInReach) {
  Network network(3);
  network.Link(1, 2);
  network.Link(2, 3);
  Routes routes(System(1));
  auto tables = std::make_unique<Tables>();
  tables->Clear();
  const std::vector<OwnAdjacency> own = {{0, System(2), {}, {}}};
  routes.Compute(network.states(), own, *tables);
  const RBridgeIndex third = routes.IndexOf(System(3));
  LinkStates without = network.states();
  without.erase(System(2));
  without[System(1)].neighbours = {{System(3), 1}};
  without[System(3)].neighbours = {{System(1), 1}};
  routes.Compute(without, {{0, System(3), {}, {}}}, *tables);
  EXPECT_EQ(routes.IndexOf(System(3)), third);
  EXPECT_EQ(routes.IndexOf(System(2)), kNone);
  EXPECT_EQ(routes.IndexOf(System(1)), 0);
}

TEST(RoutesTest, MoreRBridgesThanThereIsRoomFor) {
  Network network(1030);
  for (int i = 2; i <= 1030; ++i) network.Link(i - 1, i);
  const Tables& tables = network.Compute(1);
  EXPECT_EQ(EntryFor(tables, 1024).next_hop, 2);
  EXPECT_EQ(tables.by_nickname[1030], kNone);
}

}  // namespace
}  // namespace viaduct::rbridge
