// What a lab's programs call its nodes, and their own addresses.
#pragma once

#include <string>

#include "lab/topology.h"

namespace viaduct::lab {

// The text of hosts(5) in the nodes: a node's name stands for its first address of each family,
// that of its loopback interface if it has one; NAME.INTERFACE for each address of an interface, as
// traceroute shows them. Link-local addresses need more than a name.
std::string HostsFile(const Topology& topology);

// Throws UsageError unless Node::loopback can be addresses of a node.
void CheckLoopbacks(const Node& node);

}  // namespace viaduct::lab
