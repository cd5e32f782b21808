// The addresses, MTUs and gateways of a scenario's remote nodes.
#pragma once

#include <string>
#include <vector>

#include "base/wire/address.h"
#include "scenario/scenario.h"

namespace viaduct::run {

// Returns the addresses of a node on a link, IPv4 before IPv6; empty if the node has none on it.
std::vector<wire::IpPrefix> AddressesOn(const scenario::LinkSettings& link,
                                        const std::string& node);
// Returns the addresses of a remote node's client, which are all addresses of the node, IPv4 before
// IPv6 for each link. The client's MTU is that of the node's link that carries the longest packets.
std::vector<wire::IpPrefix> AddressesOf(const scenario::Scenario& scenario,
                                        const scenario::NodeSettings& node);
int MtuOf(const scenario::Scenario& scenario, const scenario::NodeSettings& node);
// Returns the gateways of a host, at most one of each family. The client of a router has no
// gateway: every address is on its link.
std::vector<wire::IpAddress> GatewaysOf(const scenario::Scenario& scenario,
                                        const scenario::NodeSettings& node);

}  // namespace viaduct::run
