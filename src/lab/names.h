// The names that a lab's programs use for its nodes, and the nodes' loopback addresses.
#pragma once

#include <string>

#include "lab/topology.h"

namespace viaduct::lab {

// Returns the text of the nodes' hosts(5) file. A node's name stands for its first address of each
// family, which is the address of its loopback interface if it has one. NAME.INTERFACE stands for
// each address of an interface, as traceroute shows it. Link-local addresses have no names, because
// a name alone does not identify them.
std::string HostsFile(const Topology& topology);

// Throws UsageError if an address of Node::loopback cannot be a node's address.
void CheckLoopbacks(const Node& node);

}  // namespace viaduct::lab
