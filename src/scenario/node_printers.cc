#include "scenario/node_printers.h"

#include <fmt/format.h>

#include "scenario/binding.h"

namespace viaduct::scenario {

void PrintPosition(YAML::Emitter& out, const Key& key, const NodeSettings& node) {
  if (node.waypoints.size() != 1) return;
  PrintPair(out, key, YAML::Flow);
  out << YAML::BeginSeq;
  for (const double metres : {node.waypoints[0].x, node.waypoints[0].y, node.waypoints[0].z}) {
    out << fmt::format("{}", metres);
  }
  out << YAML::EndSeq;
}

void PrintWaypoints(YAML::Emitter& out, const Key& key, const NodeSettings& node) {
  if (node.waypoints.size() < 2) return;
  PrintPair(out, key, YAML::Flow);
  out << YAML::BeginSeq;
  for (const Waypoint& point : node.waypoints) {
    out << fmt::format("{} {} {} {}", FormatDuration(point.at), point.x, point.y, point.z);
  }
  out << YAML::EndSeq;
}

void PrintNodes(YAML::Emitter& out, const Key&, const Scenario& scenario) {
  out << YAML::Key << "nodes" << YAML::Value << YAML::BeginMap;
  for (const NodeSettings& node : scenario.nodes) {
    out << YAML::Key << node.name << YAML::Value << YAML::BeginMap;
    PrintMembers(out, "nodes.NAME", node);
    out << YAML::EndMap;
  }
  out << YAML::EndMap;
}

void PrintStack(YAML::Emitter& out, const Key& key, const NodeSettings& node) {
  if (!node.kernel) return;
  PrintPair(out, key, "kernel" + (node.kernel->empty() ? "" : ":" + *node.kernel));
}

void PrintNodeRouting(YAML::Emitter& out, const Key& key, const NodeSettings& node) {
  if (node.routed_by_programs) PrintPair(out, key, "none");
}

void PrintRemote(YAML::Emitter& out, const Key& key, const NodeSettings& node) {
  if (node.remote) PrintPair(out, key, node.remote->ToString());
}

void PrintVni(YAML::Emitter& out, const Key& key, const NodeSettings& node) {
  if (node.remote) PrintPair(out, key, node.remote->vni);
}

void PrintPlane(YAML::Emitter& out, const Key& key, const NodeSettings& node) {
  if (node.program.empty()) {
    PrintValue(out, key, node.data_plane);
    return;
  }
  PrintPair(out, key, YAML::Flow);
  out << YAML::BeginMap << YAML::Key << "program" << YAML::Value << node.program << YAML::EndMap;
}

}  // namespace viaduct::scenario
