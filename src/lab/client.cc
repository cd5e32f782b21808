#include "lab/client.h"

#include <algorithm>
#include <string_view>

#include "base/error.h"

namespace viaduct::lab {

std::string ClientNameOf(const std::string& node) { return node + "/client"; }

// Checks that the simulator is the node's IP layer, and that the node has no programs in the lab.
void CheckClient(const Topology& topology, const Remote& client) {
  const std::string what = "client of node " + client.programs_of + ": ";
  if (client.name != ClientNameOf(client.programs_of)) {
    throw UsageError(what + "invalid name \"" + client.name + "\"");
  }
  const auto node = std::ranges::find(topology.nodes, client.programs_of, &Node::name);
  if (node == topology.nodes.end()) throw UsageError(what + "the node does not exist");
  const std::string_view reason = node->data_plane->Unavailable(fib::Feature::kProgramDevice);
  if (!reason.empty()) throw UsageError(what + std::string(reason));
  if (!node->program_addresses.empty()) {
    throw UsageError(what +
                     "the node's programs run on this machine (on a TUN device), so the node "
                     "cannot have a client");
  }
}

}  // namespace viaduct::lab
