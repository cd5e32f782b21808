#include "cli/path_options.h"

#include <fmt/format.h>

#include <cstdio>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/result/timing.h"
#include "base/units.h"
#include "base/within.h"
#include "path/engine/classifier.h"

namespace viaduct::cli {
namespace {

// Returns the reason for which the timing makes a run VOID.
std::string WhyVoid(const result::Timing& timing) {
  const int64_t limit = timing.limit_ns.value_or(0);
  if (timing.p99_ns > limit) {
    return fmt::format("p99 of the lateness is {} us, above --lateness-limit {}",
                       result::Micros(timing.p99_ns), FormatDuration(Duration::Nanoseconds(limit)));
  }
  return fmt::format("viaduct itself lost {} frames, more than 1 in 100", timing.lost.value_or(0));
}

}  // namespace

void PairOptions::AddPairs(CLI::App& command) {
  command.add_option("--between", between, "two interfaces with a path between them")
      ->type_name("A B")
      ->expected(2, CLI::detail::expected_max_vector_size)
      ->type_size(1);
  AddRepeated(command, "--pair", pair, "[NAME=]END,END",
              "two ends with a path between them, each IF, IF:vlan=ID or IF:mpls=LABEL; may be "
              "repeated");
}

void PairOptions::AddSpecs(CLI::App& command, const std::string& up_help,
                           const std::string& down_help) {
  AddRepeated(command, "--up", up, "SPEC", up_help);
  AddRepeated(command, "--down", down, "SPEC", down_help);
  AddRepeated(command, "--class", classes, "NAME=FILTER",
              "a class of packets that has its own SPECs");
}

OrderedArguments PairOptions::InOrder(const CLI::App& command) const {
  const std::map<std::string, const std::vector<std::string>*> values = {
      {"between", &between}, {"pair", &pair}, {"class", &classes}, {"up", &up}, {"down", &down}};
  std::map<std::string, size_t> used;
  OrderedArguments ordered;
  for (const CLI::Option* option : command.parse_order()) {
    const std::string key = option->get_single_name();
    const auto found = values.find(key);
    if (found == values.end()) continue;
    const size_t index = used[key]++;
    if (index < found->second->size()) ordered.emplace_back(key, found->second->at(index));
  }
  return ordered;
}

void EmulationOptions::AddTo(CLI::App& command, const std::string& duration_help,
                             const std::string& json_help) {
  engine.AddTo(command);
  command
      .add_option("--schedule", schedule, "a file with a schedule of SPEC changes (docs/path.md)")
      ->type_name("FILE");
  command.add_option("--duration", duration, duration_help);
  command.add_option(
      "--lateness-limit", lateness_limit,
      "if p99 of the lateness exceeds this limit, the run is VOID (exit status 4): 100us");
  command.add_option("--json", json_file, json_help)->type_name("FILE");
}

path::PathOptions EmulationOptions::Understand(engine::Config config) const {
  path::PathOptions path;
  path.config = std::move(config);
  engine.Fill(&path.config);
  // Compiles the filters here, where a signal still ends the command, because libpcap takes minutes
  // for a filter of thousands of addresses.
  const engine::Classifier check(path.config);
  if (!schedule.empty()) {
    path.schedule = path::ParseSchedule(ReadNamedFile(schedule), schedule);
    path.schedule_file = schedule;
  }
  if (!duration.empty()) {
    path.duration = PositiveDuration("--duration", duration);
  }
  if (!lateness_limit.empty()) {
    path.lateness_limit = Within("--lateness-limit", [&] { return ParseDuration(lateness_limit); });
  }
  return path;
}

int Conclude(const result::EngineResult& result, std::optional<int> program) {
  for (const std::string& failure : result.failures) {
    std::fprintf(stderr, "viaduct: %s\n", failure.c_str());
  }
  const int status = program.value_or(0);
  if (result.verdict == result::Verdict::kVoid) {
    std::fprintf(
        stderr, "viaduct: the run is VOID: %s%s\n", WhyVoid(result.timing).c_str(),
        program ? fmt::format("; the exit status of the program was {}", status).c_str() : "");
    return static_cast<int>(ExitStatus::kVoid);
  }
  const bool failed = status == 0 && !result.failures.empty();
  return failed ? static_cast<int>(ExitStatus::kFailure) : status;
}

}  // namespace viaduct::cli
