#include "lab/path_walk.h"

#include <algorithm>

namespace viaduct::lab {

WireMap::WireMap(const std::vector<Wire>& wires) : wires_(wires) {
  for (const Wire& wire : wires_) {
    const std::pair ends{&wire.a, &wire.b};
    const std::pair from_b{&wire.b, &wire.a};
    by_fabric_[wire.a.fabric_ifindex] = ends;
    by_fabric_[wire.b.fabric_ifindex] = from_b;
    by_node_[{wire.a.node, wire.a.ifindex}] = ends;
    by_node_[{wire.b.node, wire.b.ifindex}] = from_b;
  }
}

const WireEnd* WireMap::Beyond(int fabric_ifindex) const {
  const auto found = by_fabric_.find(fabric_ifindex);
  return found == by_fabric_.end() ? nullptr : found->second.second;
}

std::pair<const WireEnd*, const WireEnd*> WireMap::Find(size_t node, int ifindex) const {
  const auto found = by_node_.find({node, ifindex});
  return found == by_node_.end() ? std::pair<const WireEnd*, const WireEnd*>{} : found->second;
}

namespace {

bool Has(const std::vector<size_t>& nodes, size_t node) {
  return std::ranges::find(nodes, node) != nodes.end();
}

// Adds the hop through one router to `walk`. Returns the wire's end where the packet arrives at the
// next router; null if the router itself must handle the packet.
const WireEnd* Step(const WireMap& wires, Routers& routers, const WireEnd& here,
                    const bpf::PathKey& key, Walk* walk) {
  const auto entry = routers.FindInterface(here.node, here.ifindex);
  if (!entry || entry->mac != here.mac ||
      !routers.OnlyForwards(here.node, here.ifindex, key.destination.family)) {
    return nullptr;
  }
  const auto next = routers.FindNextHop(here.node, key.destination, key.tos);
  if (!next || next->ifindex == here.ifindex) return nullptr;
  const auto [leaves, arrives] = wires.Find(here.node, next->ifindex);
  const auto exit = routers.FindInterface(here.node, next->ifindex);
  if (leaves == nullptr || !exit || next->mac != arrives->mac) return nullptr;
  const auto beyond = routers.FindInterface(arrives->node, arrives->ifindex);
  if (!beyond || beyond->mac != arrives->mac) return nullptr;
  walk->hops.push_back({here.node, here.ifindex, next->ifindex, leaves->loss.has_value()});
  bpf::JoinedPath& path = walk->path;
  const uint32_t mtu = std::min(exit->mtu, beyond->mtu);  // longer frames are discarded on arrival
  path.mtu = path.hops == 0 ? mtu : std::min(path.mtu, mtu);
  path.hops += 1;
  path.exit = arrives->fabric_ifindex;
  path.source = exit->mac;
  path.destination = arrives->mac;
  path.routers.push_back(static_cast<uint32_t>(here.node));
  if (leaves->loss) path.lossy_ends.push_back(leaves->fabric_ifindex);
  return arrives;
}

}  // namespace

Walk WalkPath(const WireMap& wires, Routers& routers, const bpf::PathKey& key) {
  Walk walk;
  const WireEnd* here = wires.Beyond(key.port);
  if (here == nullptr) return walk;
  walk.path.enters = here->mac;
  while (here != nullptr && walk.path.hops < VIADUCT_MOST_HOPS) {
    if (Has(walk.nodes, here->node)) {
      return {{}, walk.nodes, {}};
    }
    walk.nodes.push_back(here->node);
    here = Step(wires, routers, *here, key, &walk);
  }
  // Adds the node that receives the packets: a change of this node's interface also changes the
  // path.
  if (here != nullptr) walk.nodes.push_back(here->node);
  return walk;
}

}  // namespace viaduct::lab
