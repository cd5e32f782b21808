#include <fmt/format.h>
#include <openssl/evp.h>
#include <yaml-cpp/yaml.h>

#include "base/error.h"
#include "base/units.h"
#include "scenario/scenario.h"

namespace viaduct::scenario {
namespace {

using YAML::BeginMap, YAML::BeginSeq, YAML::EndMap, YAML::EndSeq, YAML::Flow, YAML::Key,
    YAML::Value;

template <class Map>
void PrintTable(YAML::Emitter& out, const char* key, const Map& table) {
  if (table.empty()) return;
  out << Key << key << Value << BeginMap;
  for (const auto& [name, value] : table) out << Key << name << Value << value;
  out << EndMap;
}

template <class Range>
void PrintList(YAML::Emitter& out, const char* key, const Range& items) {
  if (items.empty()) return;
  out << Key << key << Value << Flow << BeginSeq;
  for (const auto& item : items) out << item;
  out << EndSeq;
}

void PrintDuration(YAML::Emitter& out, const char* key, Duration duration) {
  out << Key << key << Value << FormatDuration(duration);
}

void PrintNode(YAML::Emitter& out, const NodeSettings& node) {
  out << Key << node.name << Value << BeginMap;
  out << Key << "host" << Value << node.host;
  if (node.host) out << Key << "gateway" << Value << node.gateway;
  if (node.data_plane) {
    out << Key << "data_plane" << Value << std::string(node.data_plane->name);
  }
  if (node.kernel) {
    out << Key << "stack" << Value << "kernel" + (node.kernel->empty() ? "" : ":" + *node.kernel);
  }
  PrintTable(out, "sysctls", node.sysctls);
  PrintList(out, "interfaces", node.physical_interfaces);
  out << EndMap;
}

void PrintLink(YAML::Emitter& out, const LinkSettings& link) {
  out << BeginMap;
  PrintList(out, link.kind == lab::Link::Kind::kPair ? "pair" : "shared", link.nodes);
  out << Key << "name" << Value << link.name;
  const auto spec = [&](const char* key, const path::Spec& value) {
    out << Key << key << Value << path::FormatSpec(value);
  };
  if (!link.spec.IsPlainWire()) spec("spec", link.spec);
  if (link.up) spec("up", *link.up);
  if (link.down) spec("down", *link.down);
  out << Key << "emulator" << Value << lab::EmulatorName(link.emulator);
  out << Key << "mtu" << Value << link.mtu;
  std::vector<std::string> addresses;
  for (const wire::IpPrefix& address : link.addresses) addresses.push_back(address.ToString());
  PrintList(out, "addresses", addresses);
  out << EndMap;
}

void PrintFlow(YAML::Emitter& out, const scenario::Flow& flow) {
  out << BeginMap << Key << "type" << Value << KindName(flow.kind);
  out << Key << "name" << Value << flow.name;
  out << Key << "from" << Value << flow.from << Key << "to" << Value << flow.to;
  if (flow.kind != scenario::Flow::Kind::kTcp) out << Key << "size" << Value << flow.size;
  if (flow.rate) out << Key << "rate" << Value << FormatRate(*flow.rate);
  if (flow.kind == scenario::Flow::Kind::kPing) PrintDuration(out, "interval", flow.interval);
  PrintDuration(out, "start", flow.start);
  PrintDuration(out, "duration", flow.duration);
  out << EndMap;
}

void PrintProgram(YAML::Emitter& out, const Program& program) {
  out << BeginMap << Key << "name" << Value << program.name;
  out << Key << "node" << Value << program.node;
  PrintList(out, "command", program.command);
  PrintDuration(out, "start", program.start);
  if (program.timeout) PrintDuration(out, "timeout", *program.timeout);
  out << Key << "background" << Value << program.background;
  if (!program.background) out << Key << "expect" << Value << program.expect;
  PrintTable(out, "environment", program.environment);
  out << EndMap;
}

void PrintEvent(YAML::Emitter& out, const LinkEvent& event) {
  out << BeginMap;
  PrintDuration(out, "at", event.at);
  out << Key << "link" << Value << event.link;
  out << Key << "state" << Value << (event.up ? "up" : "down") << EndMap;
}

template <class Range, class PrintItem>
void PrintSections(YAML::Emitter& out, const char* key, const Range& items, PrintItem print) {
  if (items.empty()) return;
  out << Key << key << Value << BeginSeq;
  for (const auto& item : items) print(out, item);
  out << EndSeq;
}

void PrintSettings(YAML::Emitter& out, const Scenario& scenario) {
  out << Key << "name" << Value << scenario.name;
  out << Key << "seed" << Value << scenario.seed;
  PrintDuration(out, "duration", scenario.duration);
  out << Key << "mode" << Value << ModeName(scenario.mode);
  out << Key << "routing" << Value << BeginMap;
  out << Key << "protocol" << Value << scenario.routing.protocol;
  PrintTable(out, "attributes", scenario.routing.attributes);
  out << EndMap;
  out << Key << "convergence" << Value << BeginMap;
  PrintDuration(out, "timeout", scenario.convergence_timeout);
  out << Key << "required" << Value << scenario.convergence_required << EndMap;
  if (scenario.lateness_limit) {
    out << Key << "timing" << Value << BeginMap;
    PrintDuration(out, "lateness_limit", *scenario.lateness_limit);
    out << EndMap;
  }
}

}  // namespace

std::string Print(const Scenario& scenario) {
  YAML::Emitter out;
  out << BeginMap;
  PrintSettings(out, scenario);
  out << Key << "nodes" << Value << BeginMap;
  for (const NodeSettings& node : scenario.nodes) PrintNode(out, node);
  out << EndMap;
  PrintSections(out, "links", scenario.links, PrintLink);
  PrintSections(out, "flows", scenario.flows, PrintFlow);
  PrintSections(out, "programs", scenario.programs, PrintProgram);
  PrintSections(out, "events", scenario.link_events, PrintEvent);
  PrintList(out, "captures", scenario.captures);
  if (!scenario.state.empty()) {
    out << Key << "state" << Value << BeginMap;
    PrintList(out, "nodes", scenario.state);
    PrintDuration(out, "interval", scenario.state_interval);
    out << EndMap;
  }
  out << EndMap;
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

}  // namespace viaduct::scenario
