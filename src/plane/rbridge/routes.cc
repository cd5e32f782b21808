#include "plane/rbridge/routes.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <tuple>

namespace viaduct::rbridge {
namespace {

// The graph of the RBridges and their links; RBridges are numbered in the order of their
// identifiers.
class Graph {
 public:
  explicit Graph(const LinkStates& states) : links_(states.size()) {
    for (const auto& [system, content] : states) {
      systems_.push_back(system);
      contents_.push_back(&content);
    }
    for (size_t from = 0; from < systems_.size(); ++from) AddLinks(from);
  }

  static constexpr size_t kNobody = std::numeric_limits<size_t>::max();
  struct Link {
    size_t to;
    uint32_t metric;
  };

  size_t size() const { return systems_.size(); }
  const SystemId& system(size_t i) const { return systems_[i]; }
  const LspContent& content(size_t i) const { return *contents_[i]; }
  const std::vector<Link>& links(size_t i) const { return links_[i]; }
  size_t Find(const SystemId& system) const {
    const auto found = std::ranges::lower_bound(systems_, system);
    const bool known = found != systems_.end() && *found == system;
    return known ? static_cast<size_t>(found - systems_.begin()) : kNobody;
  }

 private:
  // Adds an RBridge's links. A link is added only if both ends report it (ISO 10589 section 7.2.6).
  void AddLinks(size_t from) {
    std::map<size_t, uint32_t> best;  // the minimum metric of parallel links to a neighbour
    for (const LspContent::Neighbour& neighbour : contents_[from]->neighbours) {
      const size_t to = Find(neighbour.system);
      if (to == kNobody || to == from || !Reports(to, systems_[from])) continue;
      const auto [at, added] = best.try_emplace(to, neighbour.metric);
      if (!added) at->second = std::min(at->second, neighbour.metric);
    }
    for (const auto& [to, metric] : best) links_[from].push_back({to, metric});
  }

  bool Reports(size_t from, const SystemId& to) const {
    return std::ranges::find(contents_[from]->neighbours, to, &LspContent::Neighbour::system) !=
           contents_[from]->neighbours.end();
  }

  std::vector<SystemId> systems_;
  std::vector<const LspContent*> contents_;
  std::vector<std::vector<Link>> links_;
};

constexpr uint64_t kFar = std::numeric_limits<uint64_t>::max();

// The shortest paths from one RBridge to all others.
struct Paths {
  std::vector<uint64_t> cost;                // kFar: unreachable
  std::vector<std::vector<size_t>> parents;  // all parents with equal cost, in ascending order
};

Paths FindPaths(const Graph& graph, size_t from) {
  Paths paths{.cost = std::vector<uint64_t>(graph.size(), kFar), .parents = {}};
  paths.parents.resize(graph.size());
  using Item = std::pair<uint64_t, size_t>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> open;
  paths.cost[from] = 0;
  open.push({0, from});
  while (!open.empty()) {
    const auto [cost, at] = open.top();
    open.pop();
    if (cost > paths.cost[at]) continue;
    for (const Graph::Link& link : graph.links(at)) {
      // The metric is at least 1: with 0 two RBridges could be parents of each other.
      const uint64_t via = cost + std::max<uint32_t>(link.metric, 1);
      if (via > paths.cost[link.to]) continue;
      if (via < paths.cost[link.to]) {
        paths.cost[link.to] = via;
        paths.parents[link.to].clear();
        open.push({via, link.to});
      }
      paths.parents[link.to].push_back(at);
    }
  }
  for (auto& parents : paths.parents) std::ranges::sort(parents);
  return paths;
}

// Returns, for each node, the neighbour of `self` with which the path to the node begins, along the
// parents that `choose` selects.
template <class Choose>
std::vector<size_t> FirstHops(const Graph& graph, const Paths& paths, size_t self, Choose choose) {
  std::vector<size_t> order(graph.size()), first(graph.size(), Graph::kNobody);
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](size_t i) { return paths.cost[i]; });
  for (const size_t node : order) {
    if (paths.parents[node].empty() || node == self) continue;
    const size_t parent = choose(paths.parents[node], first);
    first[node] = parent == self ? node : first[parent];
  }
  return first;
}

// Returns the links of a distribution tree, as the neighbours of each node.
std::vector<std::vector<size_t>> TreeLinks(const Paths& paths, size_t number) {
  std::vector<std::vector<size_t>> links(paths.parents.size());
  for (size_t node = 0; node < links.size(); ++node) {
    const auto& parents = paths.parents[node];
    if (parents.empty()) continue;
    // RFC 6325 section 4.5.1: of the potential parents in the order of their identifiers, the index
    // of the parent is the tree's number modulo the number of parents.
    const size_t parent = parents[number % parents.size()];
    links[node].push_back(parent);
    links[parent].push_back(node);
  }
  return links;
}

// Returns, for each node, the neighbour of `self` through which the node is reached in a
// distribution tree.
std::vector<size_t> TreeSides(const std::vector<std::vector<size_t>>& links, size_t self) {
  std::vector<size_t> side(links.size(), Graph::kNobody);
  std::vector<std::pair<size_t, size_t>> open;  // pairs of a node and the node before it
  for (const size_t neighbour : links[self]) {
    side[neighbour] = neighbour;
    open.push_back({neighbour, self});
  }
  while (!open.empty()) {
    const auto [at, before] = open.back();
    open.pop_back();
    for (const size_t next : links[at]) {
      if (next == before) continue;
      side[next] = side[at];
      open.push_back({next, at});
    }
  }
  return side;
}

// One computation of the tables of this RBridge.
class Computation {
 public:
  Computation(const LinkStates& states, const SystemId& self, const std::vector<OwnAdjacency>& own)
      : graph_(states), self_(graph_.Find(self)), owners_(NicknameOwners(states)) {
    for (const OwnAdjacency& adjacency : own) Choose(adjacency, self);
    if (self_ != Graph::kNobody) paths_ = FindPaths(graph_, self_);
  }

  std::set<SystemId> Reachable() const {
    std::set<SystemId> reachable;
    for (size_t i = 0; self_ != Graph::kNobody && i < graph_.size(); ++i) {
      if (paths_.cost[i] != kFar) reachable.insert(graph_.system(i));
    }
    return reachable;
  }

  void Fill(const std::map<SystemId, RBridgeIndex>& indices, Tables& tables) const {
    if (self_ == Graph::kNobody) return;
    // Selects, of several shortest paths, the path whose first RBridge has the lowest identifier.
    const auto first = FirstHops(graph_, paths_, self_, [&](const auto& parents, const auto& hops) {
      return *std::ranges::min_element(
          parents, {}, [&](size_t parent) { return parent == self_ ? size_t{0} : hops[parent]; });
    });
    for (const auto& [system, index] : indices) {
      const size_t node = graph_.Find(system);
      RBridgeEntry& entry = tables.rbridges[index];
      entry.next_hop = AdjacencyWith(node == self_ ? Graph::kNobody : first[node]);
      entry.nickname = NicknameOf(node);
      if (entry.nickname != kNoNickname) tables.by_nickname[entry.nickname] = index;
    }
    FillTrees(indices, tables);
  }

 private:
  // Selects one of several links between two RBridges, the same link at both ends: the link with
  // the lowest MAC address at the end whose RBridge has the lower identifier.
  void Choose(const OwnAdjacency& adjacency, const SystemId& self) {
    const size_t node = graph_.Find(adjacency.neighbour);
    if (node == Graph::kNobody) return;
    const auto rank = [&](const OwnAdjacency& one) {
      return self < one.neighbour ? std::tuple(one.own_mac, one.neighbour_mac)
                                  : std::tuple(one.neighbour_mac, one.own_mac);
    };
    const auto [at, added] = adjacencies_.try_emplace(node, adjacency);
    if (!added && rank(adjacency) < rank(at->second)) at->second = adjacency;
  }

  AdjacencyIndex AdjacencyWith(size_t node) const {
    const auto found = adjacencies_.find(node);
    return found == adjacencies_.end() ? kNone : found->second.index;
  }

  // Returns the nickname of a node; kNoNickname for a node that has lost its nickname to another
  // RBridge.
  Nickname NicknameOf(size_t node) const {
    const auto& claim = graph_.content(node).claim;
    const bool has = claim && owners_.at(claim->nickname) == graph_.system(node);
    return has ? claim->nickname : kNoNickname;
  }

  // Returns the roots of the trees, sorted by root priority, then by identifier; the first root
  // announces the number of trees (RFC 6325 section 4.5).
  std::vector<size_t> Roots() const {
    std::vector<size_t> roots;
    size_t most = kMaxTrees;
    for (size_t i = 0; i < graph_.size(); ++i) {
      if (paths_.cost[i] == kFar) continue;
      most = std::min<size_t>(most, std::max<uint16_t>(graph_.content(i).max_trees, 1));
      const auto& claim = graph_.content(i).claim;
      if (claim && claim->root_priority > 0 && NicknameOf(i) != kNoNickname) roots.push_back(i);
    }
    std::ranges::sort(roots, std::greater<>(), [&](size_t i) {
      return std::tuple(graph_.content(i).claim->root_priority, i);
    });
    if (roots.empty()) return roots;
    const size_t wanted = std::max<uint16_t>(graph_.content(roots.front()).trees, 1);
    roots.resize(std::min({roots.size(), wanted, most}));
    return roots;
  }

  void FillTrees(const std::map<SystemId, RBridgeIndex>& indices, Tables& tables) const {
    const std::vector<size_t> roots = Roots();
    for (size_t number = 0; number < roots.size(); ++number) {
      const auto links = TreeLinks(FindPaths(graph_, roots[number]), number + 1);
      Tree& tree = tables.trees[number];
      tree.root = NicknameOf(roots[number]);
      for (const size_t neighbour : links[self_]) {
        if (AdjacencyWith(neighbour) != kNone) tree.neighbours.set(AdjacencyWith(neighbour));
      }
      const auto sides = TreeSides(links, self_);
      for (const auto& [system, index] : indices) {
        tables.rbridges[index].tree_neighbour[number] = AdjacencyWith(sides[graph_.Find(system)]);
      }
    }
    // RFC 6325 section 4.5.2: frames are sent along the tree whose root is nearest to their
    // ingress.
    const auto nearest =
        std::ranges::min_element(roots, {}, [&](size_t root) { return paths_.cost[root]; });
    if (!roots.empty()) tables.own_tree = static_cast<uint8_t>(nearest - roots.begin());
  }

  const Graph graph_;
  const size_t self_;
  const std::map<Nickname, SystemId> owners_;
  Paths paths_;                                 // paths from this RBridge
  std::map<size_t, OwnAdjacency> adjacencies_;  // keyed by the neighbour's number
};

}  // namespace

std::map<Nickname, SystemId> NicknameOwners(const LinkStates& states) {
  std::map<Nickname, std::pair<uint8_t, SystemId>> best;
  for (const auto& [system, content] : states) {
    if (!content.claim) continue;
    const std::pair bid(content.claim->priority, system);
    const auto [at, added] = best.try_emplace(content.claim->nickname, bid);
    if (!added) at->second = std::max(at->second, bid);
  }
  std::map<Nickname, SystemId> owners;
  for (const auto& [nickname, bid] : best) owners[nickname] = bid.second;
  return owners;
}

RBridgeIndex Routes::IndexOf(const SystemId& system) const {
  const auto found = indices_.find(system);
  return found == indices_.end() ? kNone : found->second;
}

void Routes::Number(const std::set<SystemId>& reachable) {
  std::erase_if(indices_, [&](const auto& entry) { return !reachable.contains(entry.first); });
  std::vector<bool> used(kMaxRBridges);
  used[0] = true;  // the index of this RBridge
  for (const auto& [system, index] : indices_) used[index] = true;
  size_t next = 1;
  for (const SystemId& system : reachable) {
    if (indices_.contains(system)) continue;
    while (next < kMaxRBridges && used[next]) ++next;
    if (system == self_) {
      indices_[system] = 0;
    } else if (next < kMaxRBridges) {
      indices_[system] = static_cast<RBridgeIndex>(next++);
    }
  }
}

void Routes::Compute(const LinkStates& states, const std::vector<OwnAdjacency>& own,
                     Tables& tables) {
  const Computation computation(states, self_, own);
  Number(computation.Reachable());
  tables.ClearRoutes();
  computation.Fill(indices_, tables);
}

}  // namespace viaduct::rbridge
