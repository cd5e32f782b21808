#include "scenario/remotes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scenario/end_hosts.h"
#include "scenario/protocols.h"

namespace viaduct::scenario {
namespace {

bool HasIpv6(const std::vector<wire::IpPrefix>& addresses) {
  return std::ranges::any_of(addresses, [](const wire::IpPrefix& prefix) {
    return prefix.address.family == wire::Family::kIpv6;
  });
}

bool HasIpv6(const Scenario& scenario, const NodeSettings& node) {
  const auto is_its_own = [&](const LinkSettings& link) {
    return std::ranges::count(link.nodes, node.name) > 0 && HasIpv6(link.addresses);
  };
  return HasIpv6(node.loopback) || std::ranges::any_of(scenario.links, is_its_own);
}

// Returns the reason for which the node cannot be a remote router, "KEY: what is wrong"; empty if
// there is none.
std::string RemoteUnavailable(const Scenario& scenario, const NodeSettings& node) {
  if (HasRBridges(scenario)) {
    return "host: with WMRP a remote node must be a host; remove host: false";
  }
  if (!RunsProtocol(scenario, node)) {
    return "remote: no protocol would make the routes of this router, whose programs are on "
           "another machine; remove host: false, or choose another routing.protocol";
  }
  if (!HasIpv6(scenario, node)) return "";
  const std::string_view protocol = scenario.routing.protocol;
  if (!IsRemoteHost(protocol)) {
    return fmt::format(
        "remote: with {} this node is a router, whose client supports only IPv4; remove the node's "
        "IPv6 addresses (addressing.ipv6)",
        FindRoutingProtocol(protocol)->name);
  }
  return "remote: a remote node with IPv6 addresses must be a host, because the client of a router "
         "supports only IPv4; remove these addresses (addressing.ipv6), or remove host: false";
}

}  // namespace

bool IsRemoteHost(std::string_view protocol) {
  const RoutingProtocol* known = FindRoutingProtocol(protocol);
  return known == nullptr || known->announces_networks || known->bridges;
}

void CheckRemoteRouters(const Section& file, const Scenario& scenario) {
  for (const NodeSettings& node : scenario.nodes) {
    if (!IsRemoteRouter(node)) continue;
    const std::string reason = RemoteUnavailable(scenario, node);
    if (reason.empty()) continue;
    Fail(PlaceOfNode(file, node.name), fmt::format("nodes.{}.{}", node.name, reason));
  }
}

}  // namespace viaduct::scenario
