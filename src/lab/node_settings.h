// The sysctls that make a fresh namespace a node.
#pragma once

#include <map>
#include <string>

#include "lab/topology.h"

namespace viaduct::lab {

using Sysctls = std::map<std::string, std::string>;

// Whether anything in the lab has an IPv6 address; if not, IPv6 is off in all its namespaces (no
// router solicitations, no MLD reports on the links).
bool UsesIpv6(const Topology& topology);

// For "all" and "default", to be written before the namespace gets its interfaces, which inherit
// them.
// `router`: it has more than one interface, so most of its packets are on their way elsewhere.
Sysctls NodeSysctls(const fib::NodeLayout& layout, bool ipv6, bool router);
// The hub namespace: bridges only, no IP.
Sysctls HubSysctls();
// For the program device, whose namespace's other interfaces are silent.
Sysctls ProgramDeviceSysctls(const std::string& device, bool ipv6);

}  // namespace viaduct::lab
