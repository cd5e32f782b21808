// The addresses, MTUs and gateways of a scenario's remote nodes.
#pragma once

#include <string>
#include <vector>

#include "base/wire/address.h"
#include "scenario/scenario.h"

namespace viaduct::run {

// A node's addresses on a link, IPv4 before IPv6; empty if it has none there.
std::vector<wire::IpPrefix> AddressesOn(const scenario::LinkSettings& link,
                                        const std::string& node);
// The client of a remote node has all the node's addresses, IPv4 before IPv6 of each link, and the
// MTU of the link of the node that carries the longest packets.
std::vector<wire::IpPrefix> AddressesOf(const scenario::Scenario& scenario,
                                        const scenario::NodeSettings& node);
int MtuOf(const scenario::Scenario& scenario, const scenario::NodeSettings& node);
// The gateways of a host, one of each family at most. A router's client has none: every address is
// on its link.
std::vector<wire::IpAddress> GatewaysOf(const scenario::Scenario& scenario,
                                        const scenario::NodeSettings& node);

}  // namespace viaduct::run
