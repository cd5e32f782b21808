#include "scenario/static_routes.h"

#include <map>
#include <optional>
#include <queue>
#include <set>

#include "scenario/protocols.h"

namespace viaduct::scenario {
namespace {

// The attachment of a node to a link: `position` is the node's index in LinkSettings::nodes.
struct Attachment {
  size_t link = 0;
  size_t position = 0;
};

// Searches shortest paths (breadth-first) over the links that have addresses of one family.
class Search {
 public:
  Search(const Scenario& scenario, wire::Family family)
      : scenario_(scenario), family_(family), attachments_(scenario.nodes.size()) {
    std::map<std::string, size_t> numbers;
    for (size_t i = 0; i < scenario.nodes.size(); ++i) numbers[scenario.nodes[i].name] = i;
    for (size_t i = 0; i < scenario.links.size(); ++i) {
      const LinkSettings& link = scenario.links[i];
      std::vector<size_t>& members = members_.emplace_back();
      for (const std::string& name : link.nodes) members.push_back(numbers.at(name));
      if (!AddressAt({i, 0})) continue;
      for (size_t k = 0; k < members.size(); ++k) attachments_[members[k]].push_back({i, k});
    }
  }

  void AddRoutesOf(size_t root, std::vector<StaticRoute>& routes) const {
    std::map<size_t, Attachment> first;  // the root's neighbour on the path to each reached node
    std::set<size_t> links;
    std::queue<size_t> pending({root});
    while (!pending.empty()) {
      const size_t node = pending.front();
      pending.pop();
      for (const Attachment& at : attachments_[node]) {
        if (!links.insert(at.link).second) continue;
        if (node != root) AddRoutesTo(at.link, root, first.at(node), routes);
        for (size_t k = 0; k < members_[at.link].size(); ++k) {
          const size_t other = members_[at.link][k];
          if (other == root || scenario_.nodes[other].host) continue;
          const Attachment hop = node == root ? Attachment{at.link, k} : first.at(node);
          if (!first.emplace(other, hop).second) continue;
          pending.push(other);
          AddLoopbackOf(other, root, hop, routes);
        }
      }
    }
  }

 private:
  // Returns the first address of the family at an attachment; nothing if the link has none.
  std::optional<wire::IpAddress> AddressAt(const Attachment& at) const {
    const LinkSettings& link = scenario_.links[at.link];
    for (size_t i = at.position; i < link.addresses.size(); i += link.nodes.size()) {
      if (link.addresses[i].address.family == family_) return link.addresses[i].address;
    }
    return std::nullopt;
  }

  void AddRoutesTo(size_t destination, size_t root, const Attachment& hop,
                   std::vector<StaticRoute>& routes) const {
    const LinkSettings& link = scenario_.links[destination];
    for (size_t i = 0; i < link.addresses.size(); i += link.nodes.size()) {
      if (link.addresses[i].address.family != family_) continue;
      routes.push_back({root, hop.link, link.addresses[i].Network(), *AddressAt(hop)});
    }
  }

  void AddLoopbackOf(size_t node, size_t root, const Attachment& hop,
                     std::vector<StaticRoute>& routes) const {
    for (const wire::IpPrefix& own : scenario_.nodes[node].loopback) {
      if (own.address.family == family_) routes.push_back({root, hop.link, own, *AddressAt(hop)});
    }
  }

  const Scenario& scenario_;
  wire::Family family_;
  std::vector<std::vector<size_t>> members_;          // the nodes of each link, indexed by link
  std::vector<std::vector<Attachment>> attachments_;  // attachments, indexed by node
};

}  // namespace

std::vector<StaticRoute> StaticRoutes(const Scenario& scenario) {
  std::vector<StaticRoute> routes;
  for (const wire::Family family : {wire::Family::kIpv4, wire::Family::kIpv6}) {
    const Search search(scenario, family);
    for (size_t i = 0; i < scenario.nodes.size(); ++i) {
      if (RunsProtocol(scenario, scenario.nodes[i])) search.AddRoutesOf(i, routes);
    }
  }
  return routes;
}

}  // namespace viaduct::scenario
