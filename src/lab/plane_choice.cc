#include "lab/plane_choice.h"

#include <algorithm>
#include <set>

#include "lab/fabric.h"

namespace viaduct::lab {
namespace {

struct Reach {
  std::set<std::string> neighbours;  // nodes beyond wires over which paths could be joined
  size_t wires = 0;
  bool loses = false;  // whether one of the `wires` loses frames
};

// Returns, for each node, its neighbours over wires on which paths could be joined, under the
// assumption that all nodes with the plane `auto` get the plane `joined`.
std::map<std::string, Reach> ReachesOf(Topology topology) {
  for (Node& node : topology.nodes) {
    if (node.data_plane->joined != nullptr) node.data_plane = node.data_plane->joined;
  }
  std::map<std::string, Reach> reaches;
  for (const Link& link : topology.links) {
    if (!IsJoined(topology, link)) continue;
    for (const size_t i : {0, 1}) {
      Reach& reach = reaches[link.endpoints[i].node];
      reach.neighbours.insert(link.endpoints[1 - i].node);
      ++reach.wires;
      reach.loses = reach.loses || !link.IsPlainWire();
    }
  }
  return reaches;
}

// Returns the routers that may pass packets over several hops in one step.
std::set<std::string> Joinable(const Topology& topology,
                               const std::map<std::string, Reach>& reaches) {
  std::set<std::string> nodes;
  for (const Node& node : topology.nodes) {
    const fib::DataPlane& plane =
        node.data_plane->joined != nullptr ? *node.data_plane->joined : *node.data_plane;
    const auto reach = reaches.find(node.name);
    if (plane.layout.joins_paths && node.by_hop.empty() && reach != reaches.end() &&
        reach->second.wires > 1) {
      nodes.insert(node.name);
    }
  }
  return nodes;
}

// Returns the reason why a node should have the plane `joined`; empty if there is no reason.
std::string WhyJoined(const Node& node, const Reach& reach, const std::set<std::string>& routers) {
  const bool has_next = std::ranges::any_of(
      reach.neighbours, [&](const auto& each) { return routers.contains(each); });
  if (routers.contains(node.name) && has_next) return "forwards over several links in one step";
  if (reach.loses) return "applies the random loss of links without the path engine";
  return "";
}

}  // namespace

std::map<std::string, std::string> ChooseJoined(Topology* topology) {
  const std::map<std::string, Reach> reaches = ReachesOf(*topology);
  const std::set<std::string> routers = Joinable(*topology, reaches);
  std::map<std::string, std::string> reasons;
  for (Node& node : topology->nodes) {
    if (node.data_plane->joined == nullptr) continue;
    const auto reach = reaches.find(node.name);
    std::string& reason = reasons[node.name];
    if (reach != reaches.end()) reason = WhyJoined(node, reach->second, routers);
    if (!reason.empty()) {
      node.data_plane = node.data_plane->joined;
    } else {
      reason = node.by_hop.empty() ? "no link without a SPEC, or with only random loss, connects "
                                     "this node to another router"
                                   : node.by_hop;
    }
  }
  return reasons;
}

}  // namespace viaduct::lab
