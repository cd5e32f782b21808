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
// Throws UsageError for what a router whose programs are a client's cannot have.
void CheckRemoteRouters(const Section& file, const Scenario& scenario);

}  // namespace viaduct::scenario
