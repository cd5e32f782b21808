#include "lab/fabric.h"

#include <algorithm>
#include <map>
#include <utility>

#include "path/packet/pipeline_name.h"

namespace viaduct::lab {
namespace {

std::string Numbered(char kind, size_t link, size_t endpoint) {
  return "l" + std::to_string(link) + kind + std::to_string(endpoint);
}

const Node& NodeOf(const Topology& topology, const Endpoint& endpoint) {
  return *std::ranges::find(topology.nodes, endpoint.node, &Node::name);
}

FabricEnd EndOf(const Topology& topology, const Endpoint& endpoint, const std::string& interface) {
  const Remote* remote = FindRemote(topology, endpoint.node);
  if (remote == nullptr) return {interface, std::nullopt};
  return {"", static_cast<size_t>(remote - topology.remotes.data())};
}

path::Spec SpecOf(const Link& link, size_t endpoint) {
  return link.specs.empty() ? path::Spec() : link.specs[endpoint];
}

int MtuOf(const Topology& topology, const Endpoint& endpoint) {
  const Remote* remote = FindRemote(topology, endpoint.node);
  if (remote != nullptr) return remote->interface.mtu;
  const std::vector<Interface>& all = NodeOf(topology, endpoint).interfaces;
  const auto found = std::ranges::find(all, endpoint.interface, &Interface::name);
  return found == all.end() ? Interface().mtu : found->mtu;
}

void AddShared(const Topology& topology, size_t number, std::vector<FabricPair>* pairs) {
  const Link& link = topology.links[number];
  std::map<std::string, long> seen;
  for (size_t i = 0; i < link.endpoints.size(); ++i) {
    const std::string& node = link.endpoints[i].node;
    const long copies = seen[node]++;
    if (!IsEmulated(topology, link, i)) continue;
    pairs->push_back({path::SharedPairName(link.name, node, copies),
                      EndOf(topology, link.endpoints[i], FabricPort(number, i)),
                      {FabricInnerPort(number, i), std::nullopt},
                      SpecOf(link, i),
                      path::Spec(),
                      MtuOf(topology, link.endpoints[i]),
                      link.classes});
  }
}

// Adds the pair of a link between hosts. The directions of the pair are the directions of the
// complete link, so that every host uses the same random streams. The pair leaves arriving frames
// unchanged, because the sender's host has emulated the link for them.
void AddTunnel(const Topology& topology, size_t number, std::vector<FabricPair>* pairs) {
  const Link& link = topology.links[number];
  FabricPair pair;
  pair.name = link.name;
  pair.a.interface = FabricPort(number, 0);
  pair.b.interface = FabricInnerPort(number, 0);
  pair.up = SpecOf(link, 0);
  pair.mtu = MtuOf(topology, link.endpoints[0]);
  pair.classes = link.classes;
  if (link.tunnel->end == 1) {
    std::swap(pair.a, pair.b);
    std::swap(pair.up, pair.down);
  }
  for (path::TrafficClass& each : pair.classes) {
    (link.tunnel->end == 1 ? each.up : each.down) = path::Spec();
  }
  pairs->push_back(pair);
}

}  // namespace

std::string FabricPort(size_t link, size_t endpoint) { return Numbered('p', link, endpoint); }
std::string FabricInnerPort(size_t link, size_t endpoint) { return Numbered('q', link, endpoint); }
std::string FabricBridgePort(size_t link, size_t endpoint) { return Numbered('b', link, endpoint); }

bool IsEmulated(const Topology& topology, const Link& link, size_t endpoint) {
  // The engine forwards the frames of a remote node's tunnel, even if the link's SPECs do nothing.
  if (link.kind == Link::Kind::kPair && HasRemote(topology, link)) return true;
  if (FindRemote(topology, link.endpoints[endpoint].node) != nullptr) return true;
  if (link.emulator != Emulator::kEngine || link.specs.empty()) return false;
  if (link.live) return true;
  if (link.kind == Link::Kind::kBridge) {
    return !link.specs[endpoint].IsPlainWire() || !link.classes.empty();
  }
  return !link.IsPlainWire() && !IsJoined(topology, link);
}

std::optional<double> LossOf(const path::Spec& spec) {
  path::Spec rest = spec;
  rest.loss.reset();
  if (!rest.IsPlainWire()) return std::nullopt;
  if (!spec.loss) return 0;
  const auto* random = std::get_if<path::RandomLoss>(&spec.loss->front());
  if (spec.loss->size() > 1 || random == nullptr) return std::nullopt;
  const double probability = random->chance.probability;
  if (*random != path::RandomLoss{path::Chance{probability}}) return std::nullopt;
  return probability;
}

bool NeedsWireFrames(const Topology& topology, const Link& link, size_t endpoint) {
  return !NodeOf(topology, link.endpoints[endpoint]).data_plane->layout.keeps_offloads ||
         IsEmulated(topology, link, endpoint) || (IsJoined(topology, link) && !link.IsPlainWire());
}

std::vector<FabricPair> FabricPairs(const Topology& topology) {
  std::vector<FabricPair> pairs;
  for (size_t i = 0; i < topology.links.size(); ++i) {
    const Link& link = topology.links[i];
    if (link.kind == Link::Kind::kBridge) {
      AddShared(topology, i, &pairs);
    } else if (link.kind == Link::Kind::kTunnel) {
      if (IsEmulated(topology, link, 0)) AddTunnel(topology, i, &pairs);
    } else if (IsEmulated(topology, link, 0)) {
      pairs.push_back(
          {link.name, EndOf(topology, link.endpoints[0], FabricPort(i, 0)),
           EndOf(topology, link.endpoints[1], FabricPort(i, 1)), SpecOf(link, 0), SpecOf(link, 1),
           std::max(MtuOf(topology, link.endpoints[0]), MtuOf(topology, link.endpoints[1])),
           link.classes});
    }
  }
  return pairs;
}

bool IsJoined(const Topology& topology, const Link& link) {
  const bool is_plain = link.IsPlainWire() || link.emulator == Emulator::kEngine;
  if (link.kind != Link::Kind::kPair || link.live || !is_plain) return false;
  if (HasRemote(topology, link) || !link.classes.empty()) return false;
  if (std::ranges::any_of(link.specs, [](const auto& spec) { return !LossOf(spec); })) return false;
  // The kernel redirects frames only between different namespaces.
  if (link.endpoints[0].node == link.endpoints[1].node) return false;
  bool any = false;
  for (const Endpoint& end : link.endpoints) {
    const fib::NodeLayout& layout = NodeOf(topology, end).data_plane->layout;
    if (!layout.keeps_offloads) return false;
    any = any || layout.joins_paths;
  }
  return any;
}

bool NeedsFabric(const Topology& topology) {
  return std::ranges::any_of(topology.links, [&](const Link& link) {
    return link.kind == Link::Kind::kBridge || IsEmulated(topology, link, 0) ||
           IsJoined(topology, link);
  });
}

}  // namespace viaduct::lab
