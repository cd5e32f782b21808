#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>

#include "base/error.h"
#include "scenario/binding.h"
#include "scenario/node_printers.h"
#include "scenario/remotes.h"

namespace viaduct::scenario {
namespace {

// Returns whether the node's data plane can only have been set for the whole file.
bool HasSharedPlane(const NodeSettings& node) {
  return IsRemoteRouter(node) && node.data_plane != nullptr && !node.data_plane->in_simulator();
}

}  // namespace

std::string Print(const Scenario& scenario) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  PrintMembers(out, "", scenario);
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

std::string Hash(const Scenario& scenario) {
  const std::string text = Print(scenario);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  if (EVP_Digest(text.data(), text.size(), digest, &length, EVP_sha256(), nullptr) != 1) {
    throw Error("SHA-256 is not available in this machine's libcrypto");
  }
  std::string hex;
  for (unsigned int i = 0; i < length; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

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

void PrintSharedPlane(YAML::Emitter& out, const Key& key, const Scenario& scenario) {
  const auto found = std::ranges::find_if(scenario.nodes, HasSharedPlane);
  if (found != scenario.nodes.end()) PrintValue(out, key, found->data_plane);
}

void PrintPlane(YAML::Emitter& out, const Key& key, const NodeSettings& node) {
  if (HasSharedPlane(node)) return;
  if (node.program.empty()) {
    PrintValue(out, key, node.data_plane);
    return;
  }
  PrintPair(out, key, YAML::Flow);
  out << YAML::BeginMap << YAML::Key << "program" << YAML::Value << node.program << YAML::EndMap;
}

void PrintMachines(YAML::Emitter& out, const Key&, const Scenario& scenario) {
  if (scenario.machines.empty()) return;
  out << YAML::Key << "machines" << YAML::Value << YAML::BeginMap;
  for (const Machine& machine : scenario.machines) {
    out << YAML::Key << machine.name << YAML::Value << YAML::BeginMap;
    PrintMembers(out, "machines.NAME", machine);
    out << YAML::EndMap;
  }
  out << YAML::EndMap;
}

void PrintAddress(YAML::Emitter& out, const Key& key, const Machine& machine) {
  PrintPair(out, key, machine.address.ToString());
}

}  // namespace viaduct::scenario
