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
// The link of a node that has one.
const scenario::LinkSettings& LinkOf(const scenario::Scenario& scenario, const std::string& node);

}  // namespace viaduct::run
