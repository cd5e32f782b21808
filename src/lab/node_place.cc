#include "lab/node_place.h"

#include <algorithm>

#include "lab/fabric.h"

namespace viaduct::lab {
namespace {

const Node& NodeNamed(const Topology& topology, const std::string& name) {
  return *std::ranges::find(topology.nodes, name, &Node::name);
}

wire::MacAddress MacOf(const Topology& topology, const Endpoint& end) {
  const std::vector<Interface>& all = NodeNamed(topology, end.node).interfaces;
  const auto found = std::ranges::find(all, end.interface, &Interface::name);
  return found == all.end() ? wire::MacAddress() : found->mac;
}

// Whether frames that the end `from` sends arrive at the opposite end unchanged, with no emulation
// in between.
bool IsWire(const Topology& topology, const Link& link, const Endpoint& from) {
  if (link.live || !link.IsPlainWire()) return false;
  if (IsJoined(topology, link) || HasRemote(topology, link)) return false;
  // The kernel redirects frames only between different namespaces.
  if (link.endpoints[0].node == link.endpoints[1].node) return false;
  const auto keeps_offloads = [&](const Endpoint& end) {
    return NodeNamed(topology, end.node).data_plane->layout.keeps_offloads;
  };
  return !keeps_offloads(from) || std::ranges::all_of(link.endpoints, keeps_offloads);
}

}  // namespace

fib::NodePlace PlaceOf(const Topology& topology, const Node& node, int namespace_fd) {
  fib::NodePlace place;
  place.namespace_fd = namespace_fd;
  place.forwards_ipv4 = node.forwards_ipv4;
  place.forwards_ipv6 = node.forwards_ipv6;
  place.program = node.program;
  for (const Interface& interface : node.interfaces) {
    place.ports.push_back(interface.name);
    if (!interface.physical) place.interfaces.push_back(interface.name);
  }
  for (const Link& link : topology.links) {
    if (link.kind != Link::Kind::kPair) continue;
    for (const size_t i : {0, 1}) {
      const Endpoint& end = link.endpoints[i];
      if (end.node == node.name && IsWire(topology, link, end)) {
        place.wires[end.interface] = MacOf(topology, link.endpoints[1 - i]);
      }
    }
  }
  return place;
}

}  // namespace viaduct::lab
