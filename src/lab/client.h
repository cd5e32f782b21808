// A client that runs the programs of a node of the lab (Remote::programs_of).
#pragma once

#include <string>

#include "lab/topology.h"

namespace viaduct::lab {

// The name of the interface through which a node reaches the client that runs the node's programs.
inline constexpr char kClientInterface[] = "client0";

// Returns the name of a node's client: "NODE/client". No node can have this name.
std::string ClientNameOf(const std::string& node);
// Throws UsageError if the node cannot have a client that runs its programs.
void CheckClient(const Topology& topology, const Remote& client);

}  // namespace viaduct::lab
