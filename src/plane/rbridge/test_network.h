// Tables of a network of three RBridges, for tests.
#pragma once

#include <cstdint>
#include <memory>

#include "plane/rbridge/tables.h"

namespace viaduct::rbridge::test {

// Returns the tables of RBridge `self` in a line of three RBridges: A (nickname 1) port 1 -- port 0
// B (2) port 1 -- port 0 C (3). Port 2 of each RBridge has terminals; A is the root of the tree.
// Ports have the addresses 02:00:00:00:NICKNAME:PORT.
inline std::unique_ptr<Tables> LineOfThree(Nickname self) {
  auto tables = std::make_unique<Tables>();
  tables->Clear();
  tables->nickname = self;
  tables->own_tree = 0;
  tables->trees[0].root = 1;
  const auto mac = [](Nickname nickname, PortIndex port) {
    return wire::MacAddress{
        {2, 0, 0, 0, static_cast<uint8_t>(nickname), static_cast<uint8_t>(port)}};
  };
  for (PortIndex port = 0; port < 3; ++port) {
    tables->ports[port] = {.mac = mac(self, port), .exists = true, .serves_terminals = port == 2};
  }
  tables->by_nickname[self] = 0;
  tables->rbridges[0].nickname = self;
  RBridgeIndex next = 1;
  for (Nickname other = 1; other <= 3; ++other) {
    if (other == self) continue;
    const PortIndex port = other < self ? 0 : 1;
    const Nickname neighbour = other < self ? self - 1 : self + 1;
    tables->SetAdjacency(port, {.mac = mac(neighbour, port == 0 ? 1 : 0), .port = port});
    tables->trees[0].neighbours.set(port);
    tables->by_nickname[other] = next;
    tables->rbridges[next].nickname = other;
    tables->rbridges[next].next_hop = port;
    tables->rbridges[next].tree_neighbour[0] = port;
    ++next;
  }
  return tables;
}

}  // namespace viaduct::rbridge::test
