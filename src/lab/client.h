// A client that has the programs of a node of the lab (Remote::programs_of).
#pragma once

#include <string>

#include "lab/topology.h"

namespace viaduct::lab {

// The interface of such a node that leads to its client.
inline constexpr char kClientInterface[] = "client0";

// Returns "NODE/client", which is no node's name.
std::string ClientNameOf(const std::string& node);
// Throws UsageError where the node cannot have one.
void CheckClient(const Topology& topology, const Remote& client);

}  // namespace viaduct::lab
