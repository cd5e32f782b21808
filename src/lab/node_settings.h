// The sysctls that turn a new namespace into a node.
#pragma once

#include <map>
#include <string>

#include "lab/topology.h"

namespace viaduct::lab {

using Sysctls = std::map<std::string, std::string>;

// Whether any part of the lab has an IPv6 address; if not, IPv6 is disabled in all its namespaces
// (no router solicitations, no MLD reports on the links).
bool UsesIpv6(const Topology& topology);

// Returns the sysctls of a node, for the interfaces "all" and "default". They must be written
// before the namespace gets its interfaces, which inherit them.
// `router`: the node has more than one interface, so it mostly forwards packets.
Sysctls NodeSysctls(const fib::NodeLayout& layout, bool ipv6, bool router);
// Returns the sysctls of the fabric, which has bridges only and no IP.
Sysctls FabricSysctls();
// Returns the sysctls of the program device; the other interfaces of its namespace have no IP.
Sysctls ProgramDeviceSysctls(const std::string& device, bool ipv6);

}  // namespace viaduct::lab
