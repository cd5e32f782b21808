#include "run/remote_node.h"

#include <algorithm>

namespace viaduct::run {

std::vector<wire::IpPrefix> AddressesOn(const scenario::LinkSettings& link,
                                        const std::string& node) {
  std::vector<wire::IpPrefix> addresses;
  const auto own = std::ranges::find(link.nodes, node);
  if (own == link.nodes.end()) return addresses;
  for (size_t i = static_cast<size_t>(own - link.nodes.begin()); i < link.addresses.size();
       i += link.nodes.size()) {
    if (link.addresses[i] != scenario::kNoAddress) addresses.push_back(link.addresses[i]);
  }
  return addresses;
}

const scenario::LinkSettings& LinkOf(const scenario::Scenario& scenario, const std::string& node) {
  return *std::ranges::find_if(scenario.links, [&](const scenario::LinkSettings& link) {
    return std::ranges::count(link.nodes, node) > 0;
  });
}

}  // namespace viaduct::run
