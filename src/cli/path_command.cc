// viaduct path: an emulated path between interfaces.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "base/within.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/path_arguments.h"
#include "cli/privilege.h"
#include "emulate/path_emulation.h"
#include "emulate/path_report.h"
#include "run/environment.h"
#include "run/link_graph.h"
#include "run/progress.h"

namespace viaduct::cli {
namespace {

constexpr const char* kPathFooter =
    R"(--up and --down follow the --pair, --between or --class that they are for (up: from the first
interface to the second); before the first of these, they are the defaults of all pairs.
SPEC: docs/path-spec.md. A class takes the packets that its filter (tcpdump's syntax) matches out of
the pair's own SPECs. Tags are removed before the path and added after it.

Examples:
  viaduct path --between eth1 eth2 --up "delay=20ms rate=10Mbit queue=100p" --down "delay=20ms"
  viaduct path --between eth1 eth2 --up loss=1% --class 'dns=udp port 53' --up delay=300ms
  viaduct path --pair eth1:vlan=10,eth1:vlan=20 --up delay=5ms --pair eth1:vlan=11,eth1:vlan=21
  viaduct path set --up "delay=50ms"; viaduct path stats --watch
  viaduct path switch-config --vendor ios --link Gi0/1,Gi0/2 --trunk Gi0/24

The exit status is 0 also after Ctrl-C, which ends a path without --duration; it is 4 if p99 exceeds
--lateness-limit.)";

struct PathCommandOptions {
  std::string name, schedule, duration, json_file, lateness_limit, graph;
  EngineOptions engine;
  bool quiet = false;
  // The options whose order on the command line matters, each with its values.
  std::vector<std::string> between, pair, classes, up, down;
};

OrderedArguments InOrder(const CLI::App& command, const PathCommandOptions& options) {
  const std::map<std::string, const std::vector<std::string>*> values = {
      {"between", &options.between},
      {"pair", &options.pair},
      {"class", &options.classes},
      {"up", &options.up},
      {"down", &options.down}};
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

emulate::PathOptions Understand(const CLI::App& command, const PathCommandOptions& options) {
  emulate::PathOptions path;
  path.config = PairsFromArguments(InOrder(command, options));
  path.config.name = options.name;
  options.engine.Fill(&path.config);
  if (!options.schedule.empty()) {
    path.schedule = emulate::ParseSchedule(ReadNamedFile(options.schedule), options.schedule);
    path.schedule_file = options.schedule;
  }
  if (!options.duration.empty()) {
    path.duration = Within("--duration", [&] { return ParseDuration(options.duration); });
  }
  if (!options.lateness_limit.empty()) {
    path.lateness_limit =
        Within("--lateness-limit", [&] { return ParseDuration(options.lateness_limit); });
  }
  // It is destroyed with the path, which erases the status line before the results are printed.
  const auto progress = std::make_shared<run::Progress>(stderr, options.quiet);
  path.note = [progress](const std::string& text) { progress->Line(text); };
  if (!options.quiet && isatty(STDERR_FILENO) == 1) {
    path.status = [progress](const std::string& text) { progress->Status(text); };
  }
  return path;
}

// The file of --graph, opened before the run, which may be long.
std::ofstream OpenGraph(const PathCommandOptions& options) {
  if (options.graph.empty()) return {};
  if (options.engine.log.empty()) {
    throw UsageError("--graph draws the log; give --log FILE, too");
  }
  std::ofstream graph(options.graph);
  if (graph) return graph;
  throw UsageError(
      fmt::format("--graph {}: cannot be written: {}", options.graph, std::strerror(errno)));
}

void WriteGraph(std::ofstream& graph, const PathCommandOptions& options, const std::string& title) {
  std::ifstream log(options.engine.log);
  graph << run::LinkGraph(run::ReadLinkLog(log, options.engine.log), title) << std::flush;
  if (!graph) throw Error(options.graph + ": cannot be written, or not as a whole");
}

int RunCommand(const CLI::App& command, const PathCommandOptions& options,
               const Invocation& invocation) {
  std::ofstream graph = OpenGraph(options);
  emulate::PathOptions path = Understand(command, options);
  NeedRoot();
  result::EngineResult result = emulate::RunPath(std::move(path));
  result.environment = run::DescribeEnvironment(invocation.words);
  if (options.json_file != "-") std::fputs(emulate::StatisticsTable(result).c_str(), stdout);
  if (!options.json_file.empty()) WriteJson(options.json_file, result);
  if (graph.is_open()) WriteGraph(graph, options, result.name);
  return result.verdict == result::Verdict::kVoid ? static_cast<int>(ExitStatus::kVoid) : 0;
}

void AddOrderedOptions(CLI::App& command, PathCommandOptions& options) {
  command.add_option("--between", options.between, "a path between two interfaces")
      ->type_name("A B")
      ->expected(2, CLI::detail::expected_max_vector_size)
      ->type_size(1);
  AddRepeated(command, "--pair", options.pair, "[NAME=]END,END",
              "a path between two ends: IF, IF:vlan=ID or IF:mpls=LABEL; may be repeated");
  AddRepeated(command, "--up", options.up, "SPEC", "from the first interface to the second");
  AddRepeated(command, "--down", options.down, "SPEC", "and back");
  AddRepeated(command, "--class", options.classes, "NAME=FILTER",
              "a class of packets with its own SPECs");
}

void AddOtherOptions(CLI::App& command, PathCommandOptions& options) {
  command.add_option("--name", options.name,
                     "the path's name, for set, stats and ls; default: that of the first pair");
  options.engine.AddTo(command);
  command.add_option("--schedule", options.schedule, "a schedule of changes (docs/path.md)")
      ->type_name("FILE");
  command.add_option("--duration", options.duration, "duration: 10s; default: until Ctrl-C");
  command.add_option("--lateness-limit", options.lateness_limit,
                     "the run is VOID (exit status 4) if p99 of the lateness exceeds it: 100us");
  command
      .add_option("--json", options.json_file,
                  "write the results to this file; - is standard output")
      ->type_name("FILE");
  command
      .add_option("--graph", options.graph,
                  "draw throughput and delay over time from the log: FILE.svg")
      ->type_name("FILE");
  command.add_flag("--quiet", options.quiet, "no progress");
}

}  // namespace

void AddPath(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<PathCommandOptions>();
  CLI::App* command = app.add_subcommand("path", "emulate a path between two interfaces");
  AddOrderedOptions(*command, *options);
  AddOtherOptions(*command, *options);
  AddPathSet(*command, invocation);
  AddPathStats(*command, invocation);
  AddPathList(*command, invocation);
  AddSwitchConfig(*command, invocation);
  command->require_subcommand(0, 1);
  command->footer(kPathFooter);
  command->callback([command, options, &invocation] {
    if (!command->get_subcommands().empty()) return;
    invocation.status = RunCommand(*command, *options, invocation);
  });
}

}  // namespace viaduct::cli
