// Remote nodes: whether a remote node is a host at the end of a link, or a router of the network.
#pragma once

#include <string_view>

#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// Returns whether a remote node is a host by default. This is the case if the protocol announces
// the networks of its routers. Other protocols only know nodes, and would not find a host, because
// a host does not run the protocol.
bool IsRemoteHost(std::string_view protocol);
// Returns whether the node is a remote router: a client runs its programs, and ns-3 forwards their
// packets for a `viaduct hub`. The data plane of such a node only matters for other commands, and
// can only be set for the whole file.
inline bool IsRemoteRouter(const NodeSettings& node) {
  return node.remote.has_value() && !node.host;
}
// Throws UsageError for settings that are impossible for a remote router.
void CheckRemoteRouters(const Section& file, const Scenario& scenario);

}  // namespace viaduct::scenario
