#include "scenario/end_hosts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "scenario/protocols.h"

namespace viaduct::scenario {
namespace {

template <class F>
void Locate(const Value& at, const std::string& key, F check) {
  try {
    check();
  } catch (const UsageError& e) {
    Fail(at, key + ": " + e.what());
  }
}

}  // namespace

const Value& PlaceOfNode(const Section& file, const std::string& name) {
  const Value& nodes = *file.Find("nodes");
  const Value* settings = nodes.IsMap() ? nodes.Find(name) : nullptr;
  const Value* gateway = settings && settings->IsMap() ? settings->Find("gateway") : nullptr;
  return gateway ? *gateway : settings ? *settings : nodes;
}

HostChecks::HostChecks(const Scenario& scenario, const Section& file, const NameTable& nodes)
    : scenario_(scenario), file_(file), nodes_(nodes), bridged_(FrameNodesOf(scenario)) {
  for (const LinkSettings& link : scenario_.links) {
    for (const std::string& a : link.nodes) {
      neighbours_[a];
      for (const std::string& b : link.nodes) {
        if (a != b) neighbours_[a].insert(b);
      }
    }
  }
}

void HostChecks::Check(NodeSettings& node) const {
  const auto found = neighbours_.find(node.name);
  const auto& neighbours = found == neighbours_.end() ? std::set<std::string>() : found->second;
  if (node.remote && node.host) CheckLinksOfRemote(node);
  if (bridged_) {
    CheckBridged(node, neighbours);
  } else if (node.host) {
    CheckGateway(node, neighbours);
  }
}

// Checks a node of a scenario in which nodes forward frames: hosts are on one network, without
// gateways; the other nodes forward frames and have no network stack.
void HostChecks::CheckBridged(NodeSettings& node, const std::set<std::string>& neighbours) const {
  const Value& at = PlaceOfNode(file_, node.name);
  if (!node.gateway.empty()) {
    Fail(at, fmt::format("nodes.{}.gateway: not supported, because all hosts are on one network; "
                         "remove the key gateway",
                         node.name));
  }
  if (node.host) {
    node.data_plane = nullptr;  // a host forwards nothing
    CheckServed(node, neighbours);
    return;
  }
  node.kernel.reset();
  if (!node.program.empty()) {
    node.data_plane =
        scenario_.mode == Mode::kOffload ? &fib::kUserspaceProgram : &fib::kSimulatorPlane;
    return;
  }
  if (HasFramePrograms(scenario_)) {
    Fail(at, fmt::format(
                 "nodes.{}: other nodes forward frames with a program, so every node that is not a "
                 "host must do so; set data_plane: {{program: bridge}}, for example, or host: true",
                 node.name));
  }
  if (node.data_plane == nullptr && scenario_.mode == Mode::kOffload) {
    node.data_plane = &fib::kUserspacePlane;
  }
  const std::string reason = RBridgeUnavailable(node, scenario_.mode);
  if (!reason.empty()) Fail(at, "data_plane: " + reason);
}

// Checks that some node carries the host's frames: a neighbour that forwards frames, or a node
// outside, to which an interface of this machine leads.
void HostChecks::CheckServed(const NodeSettings& host,
                             const std::set<std::string>& neighbours) const {
  const bool is_served = std::ranges::any_of(scenario_.nodes, [&](const NodeSettings& node) {
    return !node.host && neighbours.contains(node.name);
  });
  const bool leads_outside = std::ranges::any_of(scenario_.links, [&](const LinkSettings& link) {
    return !link.interface.empty() && std::ranges::count(link.nodes, host.name) > 0;
  });
  if (is_served || leads_outside) return;
  Fail(PlaceOfNode(file_, host.name),
       fmt::format("nodes.{}: this host shares no link with {} that could carry its frames; link "
                   "the host to a node that is not a host",
                   host.name, bridged_->one));
}

void HostChecks::CheckGateway(NodeSettings& node, const std::set<std::string>& neighbours) const {
  const Value& at = PlaceOfNode(file_, node.name);
  const std::string key = fmt::format("nodes.{}.gateway", node.name);
  const auto is_host = [&](const std::string& name) {
    return std::ranges::any_of(scenario_.nodes, [&](const NodeSettings& other) {
      return other.name == name && other.host;
    });
  };
  if (node.remote) {
    CheckLinksOfRemote(node);
    // Accepts clients without a gateway if the link connects only clients.
    if (node.gateway.empty() && std::ranges::all_of(neighbours, is_host)) return;
  }
  if (node.gateway.empty()) {
    if (neighbours.size() != 1) {
      Fail(at, fmt::format("{}: missing; the key may be omitted only if the host has exactly one "
                           "neighbour, but this host has {}",
                           key, neighbours.size()));
    }
    node.gateway = *neighbours.begin();
  }
  Locate(at, key, [&] { nodes_.Check(node.gateway); });
  if (!neighbours.count(node.gateway)) {
    Fail(at, fmt::format("{}: '{}' shares no link with '{}'", key, node.gateway, node.name));
  }
  if (is_host(node.gateway)) {
    Fail(at, fmt::format("{}: '{}' is a host itself and cannot be a gateway", key, node.gateway));
  }
}

// Checks that a remote node is on one link, because its client has only one connection to the hub.
void HostChecks::CheckLinksOfRemote(const NodeSettings& node) const {
  const auto links = std::ranges::count_if(scenario_.links, [&](const LinkSettings& link) {
    return std::ranges::count(link.nodes, node.name) > 0;
  });
  if (links == 1) return;
  Fail(PlaceOfNode(file_, node.name),
       fmt::format(
           "nodes.{}.remote: a remote node must be on exactly one link, but this node is on {}",
           node.name, links));
}

}  // namespace viaduct::scenario
