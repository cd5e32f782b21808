// A lab on several hosts: which host has which node, and what leads from one host to another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/topology.h"
#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// UDP port of the VXLAN between hosts: not 4789, which may be a hub's (wire::kVxlanPort).
inline constexpr uint16_t kTunnelPort = 14789;

// Reads `hosts` of the file. Throws UsageError.
std::vector<LabHost> ReadLabHosts(const Section& file);
// What a lab on several hosts cannot have. Throws UsageError.
void CheckLabHosts(const Section& file, const Scenario& scenario);
// The same once every node has a host: a shared link has its nodes on one. Throws UsageError.
void CheckPlaces(const Scenario& scenario);

// The position of a host, or of the host of a node, in Scenario::hosts. Throws UsageError if there
// is none of that name.
size_t LabHostNumber(const Scenario& scenario, const std::string& host);
const std::string& LabHostOf(const Scenario& scenario, const std::string& node);
// Whether nodes of the link are on different hosts.
bool IsBetweenHosts(const Scenario& scenario, const LinkSettings& link);
// What one host of the scenario runs: programs are those in its nodes; captures and events are
// those of links that it has an end of. Nodes, links and flows are all of them, by whose order
// addresses and ports go.
Scenario PartOf(Scenario scenario, const std::string& host);
// What leads from the end of a link between hosts that is on `host` to the other one.
lab::Tunnel TunnelOf(const Scenario& scenario, size_t link, const std::string& host);

}  // namespace viaduct::scenario
