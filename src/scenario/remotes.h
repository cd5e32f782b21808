// Remote nodes: whether each is a host at the end of a link, or a router of the network.
#pragma once

#include <string_view>

#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// Returns whether a remote node is a host unless the file sets it otherwise: with protocols that
// announce the networks of their routers. Other protocols know only nodes, and would not find a
// host that is no node of theirs.
bool IsRemoteHost(std::string_view protocol);
// Returns whether the node's programs may be a client's, whose packets ns-3 forwards for a
// `viaduct hub`; the data plane of such a node only counts with other commands, and only the whole
// file can give it one.
inline bool IsRemoteRouter(const NodeSettings& node) {
  return node.remote.has_value() && !node.host;
}
// Throws UsageError for what a router whose programs are a client's cannot have.
void CheckRemoteRouters(const Section& file, const Scenario& scenario);

}  // namespace viaduct::scenario
