// A lab on several machines: the machine of each node, and the links from one machine to another.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/topology.h"
#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// The UDP port of the VXLAN tunnels between machines: not 4789, which a hub may use
// (wire::kVxlanPort).
inline constexpr uint16_t kTunnelPort = 14789;

// Reads `machines` of the file. Throws UsageError.
std::vector<Machine> ReadMachines(const Section& file);
// Checks that a lab on several machines has no feature that is impossible in such a lab. Throws
// UsageError.
void CheckMachines(const Section& file, const Scenario& scenario);
// Checks the machines of nodes, once every node has one: all nodes of a shared link must be on the
// same machine. Throws UsageError.
void CheckPlaces(const Scenario& scenario);

// MachineNumber() returns the index of a machine in Scenario::machines; MachineOf() returns the
// machine of a node. Both throw UsageError if there is none of that name.
size_t MachineNumber(const Scenario& scenario, const std::string& machine);
const std::string& MachineOf(const Scenario& scenario, const std::string& node);
// Returns whether nodes of the link are on different machines.
bool IsBetweenMachines(const Scenario& scenario, const LinkSettings& link);
// Returns the part of the scenario that one machine runs: the programs in its nodes, and the
// captures and events of links that have an end on it. All nodes, links and flows remain, because
// addresses and ports depend on their order.
Scenario PartOf(Scenario scenario, const std::string& machine);
// Returns the tunnel of a link between machines from its end on `machine` to its end on another
// machine.
lab::Tunnel TunnelOf(const Scenario& scenario, size_t link, const std::string& machine);

}  // namespace viaduct::scenario
