#include "scenario/awaited.h"

#include <map>
#include <numeric>
#include <optional>
#include <string>

#include "scenario/protocols.h"

namespace viaduct::scenario {
namespace {

using Numbers = std::map<std::string, size_t>;

// Returns, for each node, the connected part of the network that the node belongs to, where the
// network consists of the nodes that `is_in` accepts. Each node that is not accepted is a separate
// part.
template <class IsIn>
std::vector<size_t> PartsOf(const Scenario& scenario, const Numbers& numbers, IsIn is_in) {
  std::vector<size_t> parents(scenario.nodes.size());
  std::iota(parents.begin(), parents.end(), 0);
  const auto root = [&](size_t node) {
    while (parents[node] != node) node = parents[node] = parents[parents[node]];
    return node;
  };
  for (const LinkSettings& link : scenario.links) {
    std::optional<size_t> first;
    for (const std::string& name : link.nodes) {
      const size_t node = numbers.at(name);
      if (!is_in(scenario.nodes[node])) continue;
      if (!first) first = node;
      parents[root(node)] = root(*first);
    }
  }
  std::vector<size_t> parts;
  for (size_t node = 0; node < parents.size(); ++node) parts.push_back(root(node));
  return parts;
}

}  // namespace

AwaitedRoutes::AwaitedRoutes(const Scenario& scenario) {
  Numbers numbers;
  for (size_t i = 0; i < scenario.nodes.size(); ++i) numbers[scenario.nodes[i].name] = i;
  parts_ = PartsOf(scenario, numbers, [](const NodeSettings&) { return true; });
  const bool bridges = FrameNodesOf(scenario) != nullptr;
  areas_ = bridges ? parts_ : PartsOf(scenario, numbers, [&](const NodeSettings& node) {
    return RunsProtocol(scenario, node);
  });
  for (const NodeSettings& node : scenario.nodes) {
    const auto gateway = numbers.find(node.gateway);
    if (node.host && gateway != numbers.end()) areas_[numbers[node.name]] = areas_[gateway->second];
  }
}

}  // namespace viaduct::scenario
