// Remote nodes: whether each is a host at the end of a link, or a router of the network.
#pragma once

#include <string_view>

#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// Whether a remote node is a host unless the file says otherwise: with protocols that announce the
// networks of their routers. Others know nodes alone, and would not find one that is none of
// theirs.
bool IsRemoteHost(std::string_view protocol);
// Whether its programs may be a client's, whose packets ns-3 forwards for a `viaduct hub`; the data
// plane of such a node counts with other commands alone, and only the whole file can give it one.
inline bool IsRemoteRouter(const NodeSettings& node) {
  return node.remote.has_value() && !node.host;
}
// Throws UsageError for what a router whose programs are a client's cannot have.
void CheckRemoteRouters(const Section& file, const Scenario& scenario);

}  // namespace viaduct::scenario
