#include "cli/arguments.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "base/within.h"
#include "scenario/sample.h"

namespace viaduct::cli {
namespace {

std::vector<int> ParseCpus(const std::string& option, const std::string& text) {
  std::vector<int> cpus;
  for (const std::string& word : SplitList(option, text)) {
    cpus.push_back(
        static_cast<int>(Within(option, [&] { return ParseInteger(word, 0, CPU_SETSIZE - 1); })));
  }
  return cpus;
}

}  // namespace

std::vector<std::string> SplitList(const std::string& option, const std::string& text) {
  std::vector<std::string> items;
  std::istringstream stream(text + ",");  // with the added comma, an empty last item is found, too
  for (std::string item; std::getline(stream, item, ',');) {
    if (item.empty()) {
      throw UsageError(fmt::format("{} \"{}\": a value between commas is missing", option, text));
    }
    items.push_back(item);
  }
  return items;
}

Duration PositiveDuration(const std::string& option, const std::string& text) {
  return Within(option, [&] {
    const Duration duration = ParseDuration(text);
    if (duration > Duration()) return duration;
    throw UsageError(fmt::format("\"{}\" must be greater than 0", text));
  });
}

void AddRepeated(CLI::App& command, const std::string& name, std::vector<std::string>& values,
                 const std::string& type, const std::string& help) {
  command.add_option(name, values, help)
      ->type_name(type)
      ->expected(1)
      ->allow_extra_args(false)  // otherwise the option also takes the "--" before a program
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

std::shared_ptr<bool> AddJsonFlag(CLI::App& command, const std::string& help) {
  auto as_json = std::make_shared<bool>(false);
  command.add_flag("--json", *as_json, help);
  return as_json;
}

void AddNewPrivilegesFlag(CLI::App& command, bool& wanted) {
  command.add_flag("--new-privileges", wanted,
                   "let programs gain privileges through set-uid bits (sudo) or file capabilities, "
                   "if root has allowed this: docs/security.md");
}

void ScenarioOptions::AddTo(CLI::App& command) {
  command.add_option("FILE", file, "the scenario file (docs/scenario.md); - is standard input");
  command
      .add_option(
          "--topo", topology,
          "a sample topology instead of a file: line, ring, star or tree with the number of "
          "nodes, or grid,COLUMNSxROWS")
      ->type_name("KIND,SIZE");
  command.add_option("--protocol", protocol, "the routing protocol, such as OLSR");
  command.add_option("--mode", mode, "the mode: simulate, traditional, emulate or offload");
  command.add_option("--duration", duration,
                     "the duration of the run after convergence, such as 10s");
  AddRepeated(command, "--set", set, "KEY=VALUE",
              "override a key of the scenario: --set flows.0.rate=2Mbit");
}

std::vector<std::string> ScenarioOptions::Overrides() const {
  std::vector<std::string> overrides = set;
  if (!mode.empty()) {
    // Checks the mode here, because the error of the scenario would name a key that the user has
    // not written.
    constexpr const char* kModes[] = {"simulate", "traditional", "emulate", "offload"};
    if (std::find(std::begin(kModes), std::end(kModes), mode) == std::end(kModes)) {
      throw UsageError(
          fmt::format("--mode {}: expected simulate, traditional, emulate or offload", mode));
    }
    overrides.push_back("mode=" + mode);
  }
  if (!duration.empty()) overrides.push_back("duration=" + duration);
  if (!protocol.empty()) overrides.push_back("routing.protocol=" + protocol);
  return overrides;
}

std::string ScenarioOptions::Text() const {
  if (file.empty() == topology.empty()) {
    throw UsageError("specify either a scenario FILE or --topo KIND,SIZE; see viaduct init");
  }
  if (!topology.empty()) {
    return Within("--topo", [&] { return scenario::SampleScenario(topology); });
  }
  return file == "-" ? ReadToEnd(STDIN_FILENO, "standard input") : ReadNamedFile(file);
}

scenario::Scenario ScenarioOptions::Understand(const std::string& text) const {
  const std::string source = !topology.empty() ? "--topo " + topology
                             : file == "-"     ? "standard input"
                                               : file;
  return scenario::Parse(text, source, Overrides());
}

void EngineOptions::AddTo(CLI::App& command) {
  command.add_option("--seed", seed,
                     "the seed of all random numbers; default: chosen at random and printed");
  command.add_option("--memory", memory, "the memory limit for queued frames, such as 512M");
  AddRepeated(command, "--spill", spill, "DIR",
              "a directory for queued frames beyond the memory limit; may be repeated");
  command.add_flag("--busy", busy,
                   "always busy-wait: the most exact timing, but all of the threads' processors "
                   "are always busy");
  command.add_flag("--cpu-saving", cpu_saving,
                   "never busy-wait: the least processor time, but the least exact timing");
  command.add_option("--threads", threads, "the number of threads that process the pairs")
      ->check(CLI::Range(1, 1024));
  command.add_option("--cpus", cpus, "pin the threads to these processors, such as 2,3");
  command
      .add_option("--trace", trace,
                  "write what happened to every packet (delivered, or why dropped) to FILE.jsonl "
                  "or FILE.pcapng")
      ->type_name("FILE");
  command
      .add_option(
          "--log", log,
          "write each packet's arrival, departure or drop, in the format of Mahimahi's mm-link")
      ->type_name("FILE");
}

void EngineOptions::Fill(engine::Config* config) const {
  config->seed = seed.empty() ? std::random_device{}() : Within("--seed", [&] {
    return static_cast<uint64_t>(ParseInteger(seed, 0, INT64_MAX));
  });
  if (!memory.empty()) {
    config->memory = Within("--memory", [&] { return ParseBytes(memory); });
  }
  for (const std::string& directory : spill) {
    std::error_code error;
    if (!std::filesystem::is_directory(directory, error)) {
      throw UsageError(fmt::format("--spill {}: no such directory", directory));
    }
    config->spill.push_back(std::filesystem::absolute(directory));
  }
  if (busy && cpu_saving) {
    throw UsageError("--busy and --cpu-saving exclude each other; specify only one of them");
  }
  if (busy) config->waiting = engine::Waiting::kBusy;
  if (cpu_saving) config->waiting = engine::Waiting::kCpuSaving;
  config->threads = threads;
  if (!cpus.empty()) config->cpus = ParseCpus("--cpus", cpus);
  if (!trace.empty()) config->trace = trace;
  if (!log.empty()) config->log = log;
}

NodeName::NodeName(const std::string& text) : node(text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return;
  place = text.substr(0, colon);
  node = text.substr(colon + 1);
}

}  // namespace viaduct::cli
