// The routes of `routing.protocol: static`: shortest paths over a scenario's links.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/wire/address.h"
#include "scenario/scenario.h"

namespace viaduct::scenario {

struct StaticRoute {
  size_t node = 0;           // index of the route's node in Scenario::nodes
  size_t link = 0;           // index of the outgoing link in Scenario::links
  wire::IpPrefix network;    // the destination
  wire::IpAddress next_hop;  // the neighbour's address on the outgoing link
};

// Returns the routes of every router to the networks of all links that the router is not on. A path
// has as few links as possible; of several such paths it is the one whose first links are first in
// the file. Hosts forward no packets, so no path leads through a host; this function returns no
// routes for hosts (NodeSettings::gateway).
std::vector<StaticRoute> StaticRoutes(const Scenario& scenario);

}  // namespace viaduct::scenario
