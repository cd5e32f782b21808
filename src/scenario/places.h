// The positions of the nodes on a scenario's Wi-Fi links, and the movement of the nodes.
#pragma once

#include <string>

#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// Reads the positions and waypoints of nodes, checks the file's mobility, whose plain keys have
// been read already, and checks the mode, because only mode simulate has Wi-Fi. Throws UsageError.
void ReadPlaces(const Section& file, Scenario* scenario);

// Returns whether a node is on a Wi-Fi channel.
bool IsOnWifi(const Scenario& scenario, const std::string& node);
// Returns whether a node has a position: because it is on a Wi-Fi channel, or because the scenario
// gives its position.
bool HasPlace(const Scenario& scenario, const NodeSettings& node);

}  // namespace viaduct::scenario
