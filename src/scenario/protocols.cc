#include "scenario/protocols.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text/edit_distance.h"
#include "plane/rbridge/trill.h"

namespace viaduct::scenario {
namespace {

constexpr std::array kProtocols = {
    RoutingProtocol{.name = "OLSR",
                    .type = "ns3::olsr::RoutingProtocol",
                    .family = wire::Family::kIpv4,
                    .reactive = false,
                    .announces_networks = true,
                    .senses_neighbours = true},
    RoutingProtocol{.name = "RIP",
                    .type = "ns3::Rip",
                    .family = wire::Family::kIpv4,
                    .reactive = false,
                    .announces_networks = true},
    RoutingProtocol{.name = "RIPng",
                    .type = "ns3::RipNg",
                    .family = wire::Family::kIpv6,
                    .reactive = false,
                    .announces_networks = true},
    RoutingProtocol{.name = "DSDV",
                    .type = "ns3::dsdv::RoutingProtocol",
                    .family = wire::Family::kIpv4,
                    .reactive = false,
                    .announces_networks = false,
                    .senses_neighbours = true},
    RoutingProtocol{.name = "AODV",
                    .type = "ns3::aodv::RoutingProtocol",
                    .family = wire::Family::kIpv4,
                    .reactive = true,
                    .announces_networks = false},
    RoutingProtocol{.name = "WMRP",
                    .type = "ns3::RBridge",
                    .family = wire::Family::kIpv4,
                    .reactive = false,
                    .announces_networks = false,
                    .bridges = true},
};

bool IsSameWord(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char one, unsigned char other) {
    return std::tolower(one) == std::tolower(other);
  });
}

}  // namespace

const RoutingProtocol* FindRoutingProtocol(std::string_view text) {
  const auto found = std::ranges::find_if(kProtocols, [&](const RoutingProtocol& protocol) {
    return protocol.type == text || IsSameWord(protocol.name, text);
  });
  return found == kProtocols.end() ? nullptr : &*found;
}

void CheckRoutingIsGiven(const Value& file) {
  const Value* routing = file.Find("routing");
  const Value* protocol = routing == nullptr ? nullptr : routing->Find("protocol");
  for (const Value* value : {routing, protocol}) {
    if (value == nullptr || value->kind != Value::Kind::kNull) continue;
    Fail(*value,
         "routing: empty; set a protocol, such as routing: AODV, or remove the key routing");
  }
}

std::string CanonicalProtocol(const std::string& text) {
  for (const std::string_view word : {std::string_view("static"), kNoProtocol}) {
    if (IsSameWord(word, text)) return std::string(word);
  }
  const RoutingProtocol* known = FindRoutingProtocol(text);
  return known == nullptr ? text : std::string(known->type);
}

std::string SuggestProtocol(std::string_view text) {
  std::vector<std::string> names = {"static", std::string(kNoProtocol)};
  for (const RoutingProtocol& each : kProtocols) {
    names.emplace_back(each.name);
    names.push_back(names.back());
    for (char& letter : names.back()) letter = static_cast<char>(std::tolower(letter));
  }
  return DidYouMean(text, names);
}

std::string_view ProtocolUnavailable(std::string_view text) {
  if (!IsSameWord(text, "DSR") && text != "ns3::dsr::DsrRouting") return "";
  return "ns-3's DSR is not supported: it is not a routing protocol of ns-3's IP layer, but puts "
         "its own header, which neither kernels nor programs can read, into every data packet; use "
         "AODV";
}

const FrameNodes* FrameNodesOf(const Scenario& scenario) {
  static constexpr FrameNodes kRBridges = {"an RBridge", rbridge::kOverhead};
  static constexpr FrameNodes kPrograms = {"a node that forwards frames",
                                           forward::ProgramDescription::kMaxOverhead};
  if (HasRBridges(scenario)) return &kRBridges;
  return HasFramePrograms(scenario) ? &kPrograms : nullptr;
}

bool HasRBridges(const Scenario& scenario) {
  const RoutingProtocol* known = FindRoutingProtocol(scenario.routing.protocol);
  return known && known->bridges;
}

bool HasFramePrograms(const Scenario& scenario) {
  return std::ranges::any_of(scenario.nodes,
                             [](const NodeSettings& node) { return !node.program.empty(); });
}

void CheckFramePrograms(const Section& file, Scenario* scenario) {
  if (!HasFramePrograms(*scenario)) return;
  const Section routing = file.Inner("routing");
  std::string& protocol = scenario->routing.protocol;
  if (!routing.Has("protocol")) protocol = kNoProtocol;
  const RoutingProtocol* known = FindRoutingProtocol(protocol);
  if (known != nullptr || protocol == "static") {
    routing.Fail("protocol", fmt::format("{} is not supported for nodes that forward frames with a "
                                         "program (data_plane.program); remove the key protocol, "
                                         "or set the TypeId of an ns3::Object of your own",
                                         known ? known->name : protocol));
  }
  if (routing.Has("sample")) {
    routing.Fail("sample",
                 "not supported, because nodes that forward frames with a program have no routes; "
                 "remove the key sample");
  }
}

bool RunsProtocol(const Scenario& scenario, const NodeSettings& node) {
  return !node.host && !node.routed_by_programs && node.program.empty() &&
         scenario.routing.protocol != kNoProtocol;
}

std::string RBridgeUnavailable(const NodeSettings& node, Mode mode) {
  if (node.data_plane == nullptr) return "";
  if (node.data_plane->bridged == nullptr) {
    return fmt::format(
        "{} forwards packets, but {} is an RBridge, which forwards frames; use userspace, ebpf or "
        "auto, or remove data_plane",
        node.data_plane->name, node.name);
  }
  if (mode == Mode::kTraditional && !node.data_plane->in_simulator()) {
    return fmt::format(
        "{}: in mode traditional ns-3 forwards the frames of {}, an RBridge; remove data_plane, or "
        "use mode emulate or offload",
        node.data_plane->name, node.name);
  }
  return "";
}

}  // namespace viaduct::scenario
