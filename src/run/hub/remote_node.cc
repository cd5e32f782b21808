#include "run/hub/remote_node.h"

#include <algorithm>
#include <iterator>

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

std::vector<wire::IpPrefix> AddressesOf(const scenario::Scenario& scenario,
                                        const scenario::NodeSettings& node) {
  std::vector<wire::IpPrefix> all;
  for (const scenario::LinkSettings& link : scenario.links) {
    std::ranges::copy(AddressesOn(link, node.name), std::back_inserter(all));
  }
  std::ranges::copy(node.loopback, std::back_inserter(all));
  return all;
}

int MtuOf(const scenario::Scenario& scenario, const scenario::NodeSettings& node) {
  int mtu = 0;
  for (const scenario::LinkSettings& link : scenario.links) {
    if (std::ranges::count(link.nodes, node.name) > 0) mtu = std::max(mtu, link.mtu);
  }
  return mtu;
}

std::vector<wire::IpAddress> GatewaysOf(const scenario::Scenario& scenario,
                                        const scenario::NodeSettings& node) {
  std::vector<wire::IpAddress> gateways;
  for (const scenario::LinkSettings& link : scenario.links) {
    if (std::ranges::count(link.nodes, node.name) == 0) continue;
    for (const wire::IpPrefix& gateway : AddressesOn(link, node.gateway)) {
      gateways.push_back(gateway.address);
    }
  }
  return gateways;
}

}  // namespace viaduct::run
