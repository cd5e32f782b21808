// Computation of an RBridge's tables from the link states: shortest paths, distribution trees, the
// neighbours for the reverse-path check, and the owners of nicknames (RFC 6325 sections 3.7 and
// 4.5).
#pragma once

#include <map>
#include <set>
#include <vector>

#include "plane/rbridge/lsp_content.h"
#include "plane/rbridge/tables.h"

namespace viaduct::rbridge {

// The content of RBridges' LSPs, keyed by the RBridges' identifiers.
using LinkStates = std::map<SystemId, LspContent>;

// Returns the RBridge that keeps each claimed nickname: of several claimants, the RBridge with the
// highest priority, then with the highest identifier (RFC 6325 section 3.7.3).
std::map<Nickname, SystemId> NicknameOwners(const LinkStates& states);

// An adjacency of this RBridge, by its index in Tables::adjacencies, and the adjacency's neighbour.
struct OwnAdjacency {
  AdjacencyIndex index = kNone;
  SystemId neighbour;
  wire::MacAddress own_mac, neighbour_mac;  // addresses of the link's two ports
};

class Routes {
 public:
  explicit Routes(const SystemId& self) : self_(self) {}

  // Computes the routing part of `tables`, whose adjacencies must be set. `own` contains all usable
  // adjacencies. If there are more than kMaxRBridges RBridges, the RBridges that became known last
  // count as unreachable.
  void Compute(const LinkStates& states, const std::vector<OwnAdjacency>& own, Tables& tables);

  // Returns the index of an RBridge in the tables, which the RBridge keeps while it is reachable;
  // kNone: it is unreachable.
  RBridgeIndex IndexOf(const SystemId& system) const;
  // Returns the reachable RBridges, including this RBridge, after the last Compute().
  const std::map<SystemId, RBridgeIndex>& Reachable() const { return indices_; }

 private:
  void Number(const std::set<SystemId>& reachable);

  const SystemId self_;
  std::map<SystemId, RBridgeIndex> indices_;
};

}  // namespace viaduct::rbridge
