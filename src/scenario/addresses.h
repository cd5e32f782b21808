// The address of a node as a destination of traffic.
#pragma once

#include <optional>
#include <string>

#include "base/wire/address.h"
#include "scenario/scenario.h"

namespace viaduct::scenario {

// Returns the address of `node` for traffic to it: its loopback address (NodeSettings::loopback),
// or else the first one of its links, IPv4 before IPv6. Throws UsageError if it has none.
wire::IpAddress AddressOf(const Scenario& scenario, const std::string& node);
// Returns the destination of a flow: an address of its receiver, or the group. Throws UsageError if
// the receiver has no such address.
wire::IpAddress AddressOf(const Scenario& scenario, const Flow& flow);
// The address that its sender sends a flow's packets from, so that answers find the way back
// whichever of its links is up: the sender's own (NodeSettings::loopback). Nothing: it has none,
// and its kernel chooses.
std::optional<wire::IpAddress> SourceOf(const Scenario& scenario, const Flow& flow);
// Returns whether the node has any address.
bool HasAddress(const Scenario& scenario, const std::string& node);
// Returns whether it is an address of the node.
bool HasAddress(const Scenario& scenario, const std::string& node, const wire::IpAddress& address);

}  // namespace viaduct::scenario
