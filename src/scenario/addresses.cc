#include "scenario/addresses.h"

#include "base/error.h"

namespace viaduct::scenario {

wire::IpAddress AddressOf(const Scenario& scenario, const std::string& node) {
  const wire::IpAddress* ipv6 = nullptr;
  for (const LinkSettings& link : scenario.links) {
    for (size_t i = 0; i < link.addresses.size(); ++i) {
      if (link.nodes[i % link.nodes.size()] != node) continue;
      const wire::IpAddress& address = link.addresses[i].address;
      if (address.family == wire::Family::kIpv4) return address;
      if (!ipv6) ipv6 = &address;
    }
  }
  if (!ipv6) throw UsageError("node '" + node + "' has no address; connect it by a link");
  return *ipv6;
}

}  // namespace viaduct::scenario
