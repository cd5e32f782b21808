// Where the nodes of a scenario's Wi-Fi links are, and how they move.
#pragma once

#include <string>

#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// Reads the nodes' positions and waypoints and checks what the file says of mobility, whose plain
// keys the scenario has already, and of the mode that alone has Wi-Fi. Throws UsageError.
void ReadPlaces(const Section& file, Scenario* scenario);

// Whether a node is on a Wi-Fi channel.
bool IsOnWifi(const Scenario& scenario, const std::string& node);
// Whether a node is somewhere: on a Wi-Fi channel, or because the scenario says so.
bool HasPlace(const Scenario& scenario, const NodeSettings& node);

}  // namespace viaduct::scenario
