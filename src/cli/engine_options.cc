#include "cli/engine_options.h"

#include <fmt/format.h>
#include <sched.h>

#include <filesystem>
#include <random>
#include <sstream>

#include "base/error.h"
#include "base/units.h"
#include "base/within.h"

namespace viaduct::cli {
namespace {

std::vector<int> ParseCpus(const std::string& text) {
  std::vector<int> cpus;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    cpus.push_back(static_cast<int>(ParseInteger(word, 0, CPU_SETSIZE - 1)));
  }
  return cpus;
}

}  // namespace

void EngineOptions::AddTo(CLI::App& command) {
  command.add_option("--seed", seed, "of everything random; drawn and printed otherwise");
  command.add_option("--memory", memory, "for all frames that wait: 512M");
  command.add_option("--spill", spill, "where frames beyond that wait; may be repeated")
      ->type_name("DIR")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_flag("--busy", busy, "spin: most exact, takes whole cores");
  command.add_flag("--cpu-saving", cpu_saving, "only sleep: least exact");
  command.add_option("--threads", threads, "pairs are dealt to them")->check(CLI::Range(1, 1024));
  command.add_option("--cpus", cpus, "pin the threads to these: 2,3");
  command.add_option("--trace", trace, "every packet's fate: FILE.jsonl or FILE.pcapng")
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
    throw UsageError("--busy and --cpu-saving contradict each other; give one");
  }
  if (busy) config->waiting = engine::Waiting::kBusy;
  if (cpu_saving) config->waiting = engine::Waiting::kCpuSaving;
  config->threads = threads;
  config->cpus = Within("--cpus", [&] { return ParseCpus(cpus); });
  if (!trace.empty()) config->trace = trace;
}

}  // namespace viaduct::cli
