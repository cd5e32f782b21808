// viaduct doctor: what this machine can do.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "broker/call.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/listings.h"
#include "cli/output.h"
#include "cli/privilege.h"
#include "dpdk/open.h"
#include "guest/process/confinement.h"
#include "lab/host_limits.h"
#include "netmap/open.h"
#include "result/table.h"
#include "run/simulator_process.h"
#include "sys/find_program.h"
#include "sys/network/features.h"
#include "xdp/probe.h"

namespace viaduct::sys {

NLOHMANN_JSON_SERIALIZE_ENUM(Feature::State, {{Feature::State::kUnknown, "unknown"},
                                              {Feature::State::kPresent, "yes"},
                                              {Feature::State::kAbsent, "no"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Feature, name, state, purpose, remedy, detail)

}  // namespace viaduct::sys

namespace viaduct::cli {
namespace {

using sys::Feature;

struct Tool {
  const char* program;
  const char* package;
  const char* purpose;
  bool is_roots_halfs = false;
};

constexpr Tool kTools[] = {
    {"iperf3", "iperf3", "flows of type tcp"},
    {"nft", "nftables", "access beyond this machine in viaduct shell", true},
    {"python3", "python3", "viaduct bench"},
};

Feature Examined(const std::string& name, const std::string& purpose, bool present,
                 const std::string& remedy) {
  return {name, present ? Feature::State::kPresent : Feature::State::kAbsent, purpose,
          present ? "" : remedy, ""};
}

// Where who executes it looks: root whom nobody called looks in its own PATH.
bool IsHere(const Tool& tool) {
  const bool is_elsewhere = tool.is_roots_halfs && geteuid() != 0;
  return !(is_elsewhere ? sys::FindProgramIn(sys::kSystemFolders, tool.program)
                        : sys::FindProgram(tool.program))
              .empty();
}

Feature Simulator() {
  std::string trouble;
  try {
    run::FindSimulator();
  } catch (const Error& error) {
    trouble = error.what();
  }
  Feature feature = Examined("viaduct-sim", "every run: the simulator, linked with ns-3",
                             trouble.empty(), "make build, or set VIADUCT_SIM");
  feature.detail = trouble;
  return feature;
}

Feature Confinement() {
  const std::string trouble = guest::WhyNotConfined();
  Feature feature = Examined(
      "guests confined", "stack: kernel, with programs or kernels that nobody knows",
      trouble.empty(),
      "a kernel with Landlock (Linux 5.13, CONFIG_SECURITY_LANDLOCK, landlock in lsm=): until then "
      "a program in a guest can write what you can write, through a hostfs mount");
  feature.detail = trouble;
  return feature;
}

// By root where it can be.
std::vector<Feature> Probed() {
  if (geteuid() == 0) NeedRoot();
  if (!privilege::HasRootsHalf()) {
    std::vector<Feature> features = sys::ProbeFeatures();
    for (const auto& [name, purpose] :
         {std::pair("AF_XDP", "path --port af_xdp"), std::pair("DPDK", "path --port dpdk"),
          std::pair("netmap", "path --port netmap")}) {
      features.push_back({name, Feature::State::kUnknown, purpose, "run as root", ""});
    }
    return features;
  }
  const nlohmann::json answer = broker::AskOnce(
      privilege::Service::kExaminer, broker::MessageType::kExamine, nlohmann::json::object());
  return answer.at("features").get<std::vector<Feature>>();
}

// The default of 1,024 entries is enough for 32 nodes that all talk to each other.
Feature NeighbourTable() {
  constexpr uint64_t kEnough = 16384;
  constexpr char kParameter[] = "net.ipv4.neigh.default.gc_thresh3";
  const auto limit = lab::ReadHostLimit(kParameter);
  Feature feature = Examined(
      "neighbour table", "shared links of up to 128 nodes in which all talk to all",
      limit.value_or(0) >= kEnough,
      fmt::format("sysctl -w {}={} (and of ipv6); it holds the entries of all namespaces together",
                  kParameter, kEnough));
  if (!limit) feature.state = Feature::State::kUnknown;
  return feature;
}

std::vector<Feature> Examine() {
  const std::vector<Feature> probed = Probed();
  std::vector<Feature> features = {
      Simulator(),
      Examined("root", "every mode but simulate", privilege::HasRootsHalf(),
               "run through sudo (viaduct does so itself if sudo needs no password)"),
      Confinement(), NeighbourTable()};
  for (const Tool& tool : kTools) {
    features.push_back(Examined(tool.program, tool.purpose, IsHere(tool),
                                fmt::format("apt-get install {}", tool.package)));
  }
  features.insert(features.end(), probed.begin(), probed.end());
  return features;
}

const char* Word(Feature::State state) {
  return state == Feature::State::kPresent  ? "yes"
         : state == Feature::State::kAbsent ? "no"
                                            : "unknown";
}

void Print(const std::vector<Feature>& features) {
  std::vector<std::vector<std::string>> rows = {{"", "here", "used for"}};
  for (const Feature& feature : features) {
    rows.push_back({feature.name, Word(feature.state), feature.purpose});
  }
  std::fputs(result::FormatTable(rows).c_str(), stdout);
  const bool complete = std::all_of(features.begin(), features.end(), [](const Feature& feature) {
    return feature.state == Feature::State::kPresent;
  });
  if (!complete) std::puts("\nA missing feature only affects what it is used for. To get it:");
  for (const Feature& feature : features) {
    if (feature.state == Feature::State::kPresent) continue;
    std::printf("  %s: %s%s%s\n", feature.name.c_str(), feature.remedy.c_str(),
                feature.detail.empty() ? "" : "; the error was: ", feature.detail.c_str());
  }
}

std::vector<Finding> Findings(const std::vector<Feature>& features) {
  std::vector<Finding> findings;
  findings.reserve(features.size());
  for (const auto& [name, state, purpose, remedy, detail] : features) {
    findings.push_back({name, Word(state), purpose, remedy, detail});
  }
  return findings;
}

}  // namespace

void ExamineAsRoot(UniqueFd connection, const sys::Identity&) {
  broker::AnswerOnce(std::move(connection), broker::MessageType::kExamine,
                     [](const nlohmann::json&) {
                       std::vector<Feature> features = sys::ProbeFeatures();
                       features.push_back(xdp::ProbeAfXdp());
                       features.push_back(dpdk::Probe());
                       features.push_back(netmap::Probe());
                       return nlohmann::json{{"features", features}};
                     });
}

void AddDoctor(CLI::App& app, Invocation&) {
  CLI::App* command = app.add_subcommand(
      "doctor", "check what this machine can do, and what to install for the rest");
  const auto as_json = AddJsonFlag(*command);
  command->footer("Example:\n  sudo viaduct doctor");
  command->callback([as_json] {
    const std::vector<Feature> features = Examine();
    *as_json ? PrintJson(Findings(features)) : Print(features);
  });
}

}  // namespace viaduct::cli
