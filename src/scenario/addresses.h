// Addresses of nodes as destinations of traffic.
#pragma once

#include <optional>
#include <string>

#include "base/wire/address.h"
#include "scenario/scenario.h"

namespace viaduct::scenario {

// Returns the address of `node` for traffic to the node: its loopback address
// (NodeSettings::loopback), or else the first address on its links, IPv4 before IPv6. Throws
// UsageError if the node has no address.
wire::IpAddress AddressOf(const Scenario& scenario, const std::string& node);
// Returns the destination of a flow: an address of its receiver, or its multicast group. Throws
// UsageError if the receiver does not have the requested address.
wire::IpAddress AddressOf(const Scenario& scenario, const Flow& flow);
// Returns the source address for a flow's packets: the sender's loopback address
// (NodeSettings::loopback), so that replies reach the sender over any of its links that is up.
// Returns nothing if the sender has no loopback address: its kernel then chooses the source
// address.
std::optional<wire::IpAddress> SourceOf(const Scenario& scenario, const Flow& flow);
// Returns whether the node has any address.
bool HasAddress(const Scenario& scenario, const std::string& node);
// Returns whether the node has this address.
bool HasAddress(const Scenario& scenario, const std::string& node, const wire::IpAddress& address);

}  // namespace viaduct::scenario
