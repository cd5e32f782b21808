// Computation of the tables from the link states: shortest paths, distribution trees, the
// reverse-path check's neighbours, and the owners of nicknames (RFC 6325 sections 3.7 and 4.5).
#pragma once

#include <map>
#include <set>
#include <vector>

#include "plane/rbridge/lsp_content.h"
#include "plane/rbridge/tables.h"

namespace viaduct::rbridge {

// The content of RBridges' LSPs, keyed by the RBridges' identifiers.
using LinkStates = std::map<SystemId, LspContent>;

// Returns the RBridge that keeps each claimed nickname: among several, the RBridge with the highest
// priority, then with the highest identifier (RFC 6325 section 3.7.3).
std::map<Nickname, SystemId> NicknameOwners(const LinkStates& states);

// An adjacency of this RBridge in Tables::adjacencies, and its neighbour.
struct OwnAdjacency {
  AdjacencyIndex index = kNone;
  SystemId neighbour;
  wire::MacAddress own_mac, neighbour_mac;  // addresses of the ports at both ends
};

class Routes {
 public:
  explicit Routes(const SystemId& self) : self_(self) {}

  // Computes the routing part of `tables`, whose adjacencies must be set. `own` has all usable
  // adjacencies. Beyond kMaxRBridges RBridges, the last to become known are out of reach.
  void Compute(const LinkStates& states, const std::vector<OwnAdjacency>& own, Tables& tables);

  // Returns the index of an RBridge in the tables, which it keeps while it is in reach; kNone: it
  // is not in reach.
  RBridgeIndex IndexOf(const SystemId& system) const;
  // Returns the RBridges in reach, this RBridge included, after the last Compute().
  const std::map<SystemId, RBridgeIndex>& Reachable() const { return indices_; }

 private:
  void Number(const std::set<SystemId>& reachable);

  const SystemId self_;
  std::map<SystemId, RBridgeIndex> indices_;
};

}  // namespace viaduct::rbridge
