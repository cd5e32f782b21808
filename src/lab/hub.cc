#include "lab/hub.h"

#include <algorithm>
#include <map>

#include "path/packet/pipeline_name.h"

namespace viaduct::lab {
namespace {

std::string Numbered(char kind, size_t link, size_t endpoint) {
  return "l" + std::to_string(link) + kind + std::to_string(endpoint);
}

int MtuOf(const Topology& topology, const Endpoint& endpoint) {
  for (const Node& node : topology.nodes) {
    if (node.name != endpoint.node) continue;
    for (const Interface& interface : node.interfaces) {
      if (interface.name == endpoint.interface) return interface.mtu;
    }
  }
  return Interface().mtu;
}

void AddShared(const Topology& topology, size_t number, std::vector<HubPair>* pairs) {
  const Link& link = topology.links[number];
  std::map<std::string, long> seen;
  for (size_t i = 0; i < link.endpoints.size(); ++i) {
    const std::string& node = link.endpoints[i].node;
    const long copies = seen[node]++;
    if (!IsEmulated(link, i)) continue;
    pairs->push_back({path::SharedPairName(link.name, node, copies), HubPort(number, i),
                      HubInnerPort(number, i), link.specs[i], path::Spec(),
                      MtuOf(topology, link.endpoints[i])});
  }
}

}  // namespace

std::string HubPort(size_t link, size_t endpoint) { return Numbered('p', link, endpoint); }
std::string HubInnerPort(size_t link, size_t endpoint) { return Numbered('q', link, endpoint); }
std::string HubBridgePort(size_t link, size_t endpoint) { return Numbered('b', link, endpoint); }

bool IsEmulated(const Link& link, size_t endpoint) {
  if (link.emulator != Emulator::kEngine || link.specs.empty()) return false;
  if (link.live) return true;
  return link.kind == Link::Kind::kPair ? !link.IsPlainWire() : !link.specs[endpoint].IsPlainWire();
}

std::vector<HubPair> HubPairs(const Topology& topology) {
  std::vector<HubPair> pairs;
  for (size_t i = 0; i < topology.links.size(); ++i) {
    const Link& link = topology.links[i];
    if (link.kind == Link::Kind::kBridge) {
      AddShared(topology, i, &pairs);
    } else if (IsEmulated(link, 0)) {
      pairs.push_back(
          {link.name, HubPort(i, 0), HubPort(i, 1), link.specs[0], link.specs[1],
           std::max(MtuOf(topology, link.endpoints[0]), MtuOf(topology, link.endpoints[1]))});
    }
  }
  return pairs;
}

bool IsJoined(const Topology& topology, const Link& link) {
  if (link.kind != Link::Kind::kPair || IsEmulated(link, 0) || !link.IsPlainWire()) return false;
  // The kernel redirects between namespaces only.
  if (link.endpoints[0].node == link.endpoints[1].node) return false;
  bool any = false;
  for (const Endpoint& end : link.endpoints) {
    const auto node = std::ranges::find(topology.nodes, end.node, &Node::name);
    if (!node->data_plane->layout.keeps_offloads) return false;
    any = any || node->data_plane->layout.joins_paths;
  }
  return any;
}

bool NeedsHub(const Topology& topology) {
  return std::ranges::any_of(topology.links, [&](const Link& link) {
    return link.kind == Link::Kind::kBridge || IsEmulated(link, 0) || IsJoined(topology, link);
  });
}

}  // namespace viaduct::lab
