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
// Prints a data plane for the whole file if a node has one that cannot be printed among the
// settings of the node.
void PrintSharedPlane(YAML::Emitter& out, const Key& key, const Scenario& scenario);
void PrintPlane(YAML::Emitter& out, const Key& key, const NodeSettings& node);

}  // namespace viaduct::scenario
