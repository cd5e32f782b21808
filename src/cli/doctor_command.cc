// viaduct doctor: reports which features of the product work on this machine.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <span>

#include "base/error.h"
#include "base/text/text_table.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/listings.h"
#include "cli/output.h"
#include "cli/privilege.h"
#include "guest/image/image.h"
#include "guest/process/confinement.h"
#include "lab/host_limits.h"
#include "port/dpdk/open.h"
#include "port/netmap/open.h"
#include "port/xdp/probe.h"
#include "run/simulator/simulator_process.h"
#include "sys/ipc/answer.h"
#include "sys/network/features.h"
#include "sys/process/child.h"
#include "sys/process/find_program.h"

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

// A use of Viaduct, and the features of the machine that this use requires.
struct Ability {
  const char* name;
  const char* purpose;
  std::vector<std::string> needs;
};

constexpr char kSimulator[] = "viaduct-sim", kRoot[] = "root", kKernels[] = "guests' kernels";

const std::vector<Ability>& Abilities() {
  static const std::vector<Ability> abilities = {
      {"simulate", "viaduct run --mode simulate", {kSimulator}},
      {"path", "viaduct path, viaduct shell", {kRoot, "namespaces", "veth", "tun", "packet-ring"}},
      {"lab",
       "viaduct up, and viaduct run in all modes except simulate",
       {kSimulator, kRoot, "namespaces", "veth", "bridge", "tun", "packet-ring"}},
      {"kernels", "stack: kernel (real Linux kernels in virtual time)", {kSimulator, kKernels}},
      {"eBPF",
       "data_plane: ebpf and joined; routes on demand in the kernel",
       {kRoot, "clsact", "bpf"}}};
  return abilities;
}

constexpr Tool kTools[] = {
    {"iperf3", "iperf3", "flows of type tcp"},
    {"nft", "nftables", "viaduct shell: access to other machines", true},
    {"python3", "python3", "viaduct sweep, compare, plot, view and bench"},
};

Feature Examined(const std::string& name, const std::string& purpose, bool present,
                 const std::string& remedy) {
  return {name, present ? Feature::State::kPresent : Feature::State::kAbsent, purpose,
          present ? "" : remedy, ""};
}

// Returns whether the process that executes the tool can find it: a tool of root's half is searched
// in the system folders, unless this process is root, which uses its own PATH.
bool IsLocal(const Tool& tool) {
  const bool is_elsewhere = tool.is_roots_halfs && geteuid() != 0;
  return !(is_elsewhere ? sys::FindProgramIn(sys::kSystemFolders, tool.program)
                        : sys::FindProgram(tool.program))
              .empty();
}

// Throws Error if a program of the product cannot be executed, for example because a library is
// missing.
void TryProgram(const std::string& program) {
  const sys::ProgramResult result = sys::RunProgram({program, "--help"});
  if (result.status == 0) return;
  const std::string said = result.output.substr(0, result.output.find('\n'));
  throw Error(fmt::format("{} exits with status {}{}{}", program, result.status,
                          said.empty() ? "" : ": ", said));
}

Feature Simulator() {
  std::string trouble;
  try {
    TryProgram(run::FindSimulator());
    TryProgram(sys::FindCompanion("viaduct-load").string());
  } catch (const Error& error) {
    trouble = error.what();
  }
  Feature feature =
      Examined(kSimulator, "every run: the simulator, linked with ns-3", trouble.empty(),
               "run make build, reinstall the package, or set VIADUCT_SIM");
  feature.detail = trouble;
  return feature;
}

Feature Kernels() {
  std::vector<std::string> releases;
  for (const guest::Image& image : guest::ListImages()) {
    if (std::ranges::count(releases, image.release) == 0) releases.push_back(image.release);
  }
  return Examined(kKernels,
                  releases.empty()
                      ? "stack: kernel"
                      : fmt::format("stack: kernel; built: {}", fmt::join(releases, ", ")),
                  !releases.empty(), "viaduct kernel build");
}

Feature Confinement() {
  const std::string trouble = guest::ConfinementUnavailable();
  Feature feature = Examined(
      "guests confined", "stack: kernel, with untrusted programs or kernels", trouble.empty(),
      "use Linux 6.12 or later with CONFIG_SECURITY_LANDLOCK and landlock in lsm=; "
      "without Landlock a program in a guest can write every file that you can write, "
      "through a hostfs mount");
  feature.detail = trouble;
  return feature;
}

// Returns the features, probed by root's half if possible.
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
  const nlohmann::json answer = privilege::AskOnce(kExamineService, OnlyRequest::kDo);
  return answer.at("features").get<std::vector<Feature>>();
}

// Checks the size of the neighbour table: the default of 1,024 entries is enough for 32 nodes that
// all communicate with each other.
Feature NeighbourTable() {
  constexpr uint64_t kEnough = 16384;
  constexpr char kParameter[] = "net.ipv4.neigh.default.gc_thresh3";
  const auto limit = lab::ReadHostLimit(kParameter);
  Feature feature = Examined(
      "neighbour table", "shared links of up to 128 nodes that all send to each other",
      limit.value_or(0) >= kEnough,
      fmt::format(
          "sysctl -w {}={} (and the same for ipv6); the limit applies to all namespaces together",
          kParameter, kEnough));
  if (!limit) feature.state = Feature::State::kUnknown;
  return feature;
}

// Returns the state of an ability: present if all features that the ability needs are present.
// Otherwise the result names the missing features.
Feature Judge(const Ability& ability, const std::vector<Feature>& features) {
  Feature judged{ability.name, Feature::State::kPresent, ability.purpose, "", ""};
  std::vector<std::string> missing;
  for (const std::string& need : ability.needs) {
    const auto found = std::ranges::find(features, need, &Feature::name);
    if (found == features.end() || found->state == Feature::State::kPresent) continue;
    if (found->state == Feature::State::kAbsent) missing.push_back(need);
    if (judged.state != Feature::State::kAbsent) judged.state = found->state;
  }
  if (!missing.empty()) judged.remedy = fmt::format("needs {}", fmt::join(missing, ", "));
  return judged;
}

std::vector<Feature> Examine() {
  const std::vector<Feature> probed = Probed();
  std::vector<Feature> features = {
      Simulator(),
      Examined(kRoot, "every mode except simulate", privilege::HasRootsHalf(),
               "use sudo (viaduct starts sudo itself if sudo needs no password)"),
      Kernels(), Confinement(), NeighbourTable()};
  for (const Tool& tool : kTools) {
    features.push_back(Examined(tool.program, tool.purpose, IsLocal(tool),
                                fmt::format("apt-get install {}", tool.package)));
  }
  features.insert(features.end(), probed.begin(), probed.end());
  std::vector<Feature> all;
  for (const Ability& ability : Abilities()) all.push_back(Judge(ability, features));
  all.insert(all.end(), features.begin(), features.end());
  return all;
}

const char* Word(Feature::State state) {
  return state == Feature::State::kPresent  ? "yes"
         : state == Feature::State::kAbsent ? "no"
                                            : "unknown";
}

std::string Table(const char* title, std::span<const Feature> features) {
  std::string text = fmt::format("{:<16} present  used for\n", title);
  text += std::string(70, '-') + "\n";
  for (const Feature& feature : features) {
    text += fmt::format("{:<16} {:<8} {}\n", feature.name, Word(feature.state), feature.purpose);
  }
  return text + "\n";
}

void Print(const std::vector<Feature>& features) {
  const std::span all(features);
  std::string text = Table("ability", all.first(Abilities().size()));
  text += Table("feature", all.subspan(Abilities().size()));
  std::string remedies;
  std::vector<std::string> untried;
  for (const Feature& feature : features) {
    if (feature.state == Feature::State::kUnknown) untried.push_back(feature.name);
    if (feature.state != Feature::State::kAbsent) continue;
    remedies += fmt::format("  {}: {}{}{}\n", feature.name, feature.remedy,
                            feature.detail.empty() ? "" : "; the error was: ", feature.detail);
  }
  if (!remedies.empty()) {
    text += "A missing feature affects only the uses in its line. To get the missing features:\n" +
            remedies;
  }
  if (!untried.empty()) {
    text += fmt::format("Not known{}: {}\n",
                        privilege::HasRootsHalf() ? "" : " without root (sudo viaduct doctor)",
                        fmt::join(untried, ", "));
  }
  PrintText(text);
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
  ipc::AnswerOnly(std::move(connection), kExamineService, OnlyRequest::kDo,
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
      "doctor", "check what this machine supports, and show how to get what is missing");
  const auto as_json = AddJsonFlag(*command);
  command->footer("Example:\n  sudo viaduct doctor");
  command->callback([as_json] {
    const std::vector<Feature> features = Examine();
    *as_json ? PrintJson(Findings(features)) : Print(features);
  });
}

}  // namespace viaduct::cli
