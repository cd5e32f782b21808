// From the link states to the tables: shortest paths, distribution trees, the reverse-path check's
// neighbours, and who has which nickname (RFC 6325 sections 3.7 and 4.5).
#pragma once

#include <map>
#include <set>
#include <vector>

#include "plane/rbridge/lsp_content.h"
#include "plane/rbridge/tables.h"

namespace viaduct::rbridge {

// What RBridges say, by their identifiers.
using LinkStates = std::map<SystemId, LspContent>;

// The RBridge that keeps each nickname that is claimed: of several the one with the highest
// priority, then with the highest identifier (RFC 6325 section 3.7.3).
std::map<Nickname, SystemId> NicknameOwners(const LinkStates& states);

// An adjacency of this RBridge in Tables::adjacencies, and with whom it is.
struct OwnAdjacency {
  AdjacencyIndex index = kNone;
  SystemId neighbour;
  wire::MacAddress own_mac, neighbour_mac;  // of the ports at both ends
};

class Routes {
 public:
  explicit Routes(const SystemId& self) : self_(self) {}

  // Computes the routing part of `tables`, whose adjacencies must be set. `own` has all usable
  // adjacencies. Beyond kMaxRBridges RBridges, the last to become known are out of reach.
  void Compute(const LinkStates& states, const std::vector<OwnAdjacency>& own, Tables& tables);

  // The place in the tables of an RBridge, which it keeps while it is in reach; kNone: it is not.
  RBridgeIndex IndexOf(const SystemId& system) const;
  // Those in reach, this RBridge included, after the last Compute().
  const std::map<SystemId, RBridgeIndex>& Reachable() const { return indices_; }

 private:
  void Number(const std::set<SystemId>& reachable);

  const SystemId self_;
  std::map<SystemId, RBridgeIndex> indices_;
};

}  // namespace viaduct::rbridge
