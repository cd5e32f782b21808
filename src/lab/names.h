// The names that a lab's programs use for its nodes, and the nodes' loopback addresses.
#pragma once

#include <string>

#include "lab/topology.h"

namespace viaduct::lab {

// Returns the text of hosts(5) in the nodes: a node's name stands for its first address of each
// family, that of its loopback interface if it has one; NAME.INTERFACE stands for each address of
// an interface, as traceroute shows it. Link-local addresses have none: they need more than a name.
std::string HostsFile(const Topology& topology);

// Throws UsageError unless Node::loopback can be addresses of a node.
void CheckLoopbacks(const Node& node);

}  // namespace viaduct::lab
