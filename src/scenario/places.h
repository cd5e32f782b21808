// The places of the nodes of a scenario's Wi-Fi links, and how they move.
#pragma once

#include <string>

#include "scenario/scenario.h"
#include "scenario/section.h"

namespace viaduct::scenario {

// Reads the nodes' positions and waypoints and checks the file's mobility, whose plain keys the
// scenario has already, and the mode, as only one has Wi-Fi. Throws UsageError.
void ReadPlaces(const Section& file, Scenario* scenario);

// Returns whether a node is on a Wi-Fi channel.
bool IsOnWifi(const Scenario& scenario, const std::string& node);
// Returns whether a node has a place: on a Wi-Fi channel, or because the scenario gives it.
bool HasPlace(const Scenario& scenario, const NodeSettings& node);

}  // namespace viaduct::scenario
