// The address of a node as a destination of traffic.
#pragma once

#include <optional>
#include <string>

#include "base/wire/address.h"
#include "scenario/scenario.h"

namespace viaduct::scenario {

// The address of `node` that traffic for it goes to: its own (NodeSettings::loopback), or else the
// first of its links', IPv4 before IPv6. Throws
// UsageError if it has none.
wire::IpAddress AddressOf(const Scenario& scenario, const std::string& node);
// The address of its receiver, or the group, that a flow goes to. Throws UsageError if the receiver
// has none such.
wire::IpAddress AddressOf(const Scenario& scenario, const Flow& flow);
// The address that its sender sends a flow's packets from, so that answers find the way back
// whichever of its links is up: the sender's own (NodeSettings::loopback). Nothing: it has none,
// and its kernel chooses.
std::optional<wire::IpAddress> SourceOf(const Scenario& scenario, const Flow& flow);
// Whether the node has any address.
bool HasAddress(const Scenario& scenario, const std::string& node);
// Whether it is an address of the node.
bool HasAddress(const Scenario& scenario, const std::string& node, const wire::IpAddress& address);

}  // namespace viaduct::scenario
