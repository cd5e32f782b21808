// Where a scenario's remote nodes are in it.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.h"
#include "wire/address.h"

namespace viaduct::run {

// A node's addresses on a link, IPv4 before IPv6; none where it has none there.
std::vector<wire::IpPrefix> AddressesOn(const scenario::LinkSettings& link,
                                        const std::string& node);
// What the client of a remote node has: all the node's addresses, IPv4 before IPv6 of each link,
// and the longest packets that a link of the node carries.
std::vector<wire::IpPrefix> AddressesOf(const scenario::Scenario& scenario,
                                        const scenario::NodeSettings& node);
int MtuOf(const scenario::Scenario& scenario, const scenario::NodeSettings& node);
// Its gateways: one of each family at most. A router's client has none, but everything on its link.
std::vector<wire::IpAddress> GatewaysOf(const scenario::Scenario& scenario,
                                        const scenario::NodeSettings& node);

}  // namespace viaduct::run
