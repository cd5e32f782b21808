// viaduct doctor: what this machine can do.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/command.h"
#include "run/environment.h"
#include "run/simulator_process.h"
#include "run/table.h"
#include "sys/features.h"

namespace viaduct::cli {
namespace {

using sys::Feature;

struct Tool {
  const char* program;
  const char* package;
  const char* purpose;
};

constexpr Tool kTools[] = {
    {"ping", "iputils-ping", "flows of type ping"},
    {"iperf3", "iperf3", "flows of type tcp"},
    {"nft", "nftables", "what lies beyond this machine, in viaduct shell"},
    {"python3", "python3", "viaduct bench"},
};

Feature Simulator() {
  Feature feature;
  feature.name = "viaduct-sim";
  feature.purpose = "every run: the simulator, linked with ns-3";
  try {
    run::FindSimulator();
    feature.state = Feature::State::kPresent;
  } catch (const Error& error) {
    feature.state = Feature::State::kAbsent;
    feature.detail = error.what();
    feature.remedy = "make build, or set VIADUCT_SIM";
  }
  return feature;
}

Feature Privilege() {
  Feature feature;
  feature.name = "root";
  feature.purpose = "every mode but simulate";
  const bool root = geteuid() == 0;
  feature.state = root ? Feature::State::kPresent : Feature::State::kAbsent;
  if (!root)
    feature.remedy = "run through sudo (viaduct does so itself where sudo asks no password)";
  return feature;
}

std::vector<Feature> Examine() {
  std::vector<Feature> features = {Simulator(), Privilege()};
  for (const Tool& tool : kTools) {
    Feature feature;
    feature.name = tool.program;
    feature.purpose = tool.purpose;
    const bool found = !run::FindProgram(tool.program).empty();
    feature.state = found ? Feature::State::kPresent : Feature::State::kAbsent;
    if (!found) feature.remedy = std::string("apt-get install ") + tool.package;
    features.push_back(std::move(feature));
  }
  for (Feature& feature : sys::ProbeFeatures()) features.push_back(std::move(feature));
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
  std::fputs(run::FormatTable(rows).c_str(), stdout);
  const bool complete = std::all_of(features.begin(), features.end(), [](const Feature& feature) {
    return feature.state == Feature::State::kPresent;
  });
  if (!complete) std::puts("\nWhat is not here limits only what it is used for. To get it:");
  for (const Feature& feature : features) {
    if (feature.state == Feature::State::kPresent) continue;
    std::printf("  %s: %s%s%s\n", feature.name.c_str(), feature.remedy.c_str(),
                feature.detail.empty() ? "" : "; the error was: ", feature.detail.c_str());
  }
}

void PrintJson(const std::vector<Feature>& features) {
  nlohmann::json list = nlohmann::json::array();
  for (const Feature& feature : features) {
    list.push_back({{"name", feature.name},
                    {"state", Word(feature.state)},
                    {"purpose", feature.purpose},
                    {"remedy", feature.remedy},
                    {"detail", feature.detail}});
  }
  std::printf("%s\n", list.dump(2).c_str());
}

}  // namespace

void AddDoctor(CLI::App& app, Invocation&) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("doctor", "what this machine can do, and what to install for the rest");
  command->add_flag("--json", *as_json, "for machines");
  command->footer("Example:\n  sudo viaduct doctor");
  command->callback([as_json] {
    const std::vector<Feature> features = Examine();
    *as_json ? PrintJson(features) : Print(features);
  });
}

}  // namespace viaduct::cli
