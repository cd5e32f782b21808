// The address of a node as a destination of traffic.
#pragma once

#include <string>

#include "scenario/scenario.h"
#include "wire/address.h"

namespace viaduct::scenario {

// The address of `node` that traffic for it goes to: its first, IPv4 before IPv6. Throws
// UsageError if it has none.
wire::IpAddress AddressOf(const Scenario& scenario, const std::string& node);
// The address of its receiver, or the group, that a flow goes to. Throws UsageError if the receiver
// has none such.
wire::IpAddress AddressOf(const Scenario& scenario, const Flow& flow);
// Whether a node has an address on some link.
bool HasAddress(const Scenario& scenario, const std::string& node, const wire::IpAddress& address);

}  // namespace viaduct::scenario
