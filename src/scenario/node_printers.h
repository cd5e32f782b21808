// Functions that print nodes and hosts, for the table of keys (scenario/keys.cc).
#pragma once

#include "scenario/keys.h"
#include "scenario/scenario.h"

namespace viaduct::scenario {

void PrintMachines(YAML::Emitter& out, const Key& key, const Scenario& scenario);
void PrintAddress(YAML::Emitter& out, const Key& key, const Machine& host);
void PrintPosition(YAML::Emitter& out, const Key& key, const NodeSettings& node);
void PrintWaypoints(YAML::Emitter& out, const Key& key, const NodeSettings& node);
void PrintNodes(YAML::Emitter& out, const Key&, const Scenario& scenario);
void PrintStack(YAML::Emitter& out, const Key& key, const NodeSettings& node);
void PrintNodeRouting(YAML::Emitter& out, const Key& key, const NodeSettings& node);
void PrintRemote(YAML::Emitter& out, const Key& key, const NodeSettings& node);
void PrintVni(YAML::Emitter& out, const Key& key, const NodeSettings& node);
// A plane of the whole file, where a node that it is for cannot have it printed.
void PrintSharedPlane(YAML::Emitter& out, const Key& key, const Scenario& scenario);
void PrintPlane(YAML::Emitter& out, const Key& key, const NodeSettings& node);

}  // namespace viaduct::scenario
