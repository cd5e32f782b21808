// viaduct path: emulates a path between interfaces.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/path_options.h"
#include "cli/privilege.h"
#include "path/live/path_emulation.h"
#include "path/live/path_report.h"
#include "run/report/link_graph.h"
#include "run/simulator/environment.h"
#include "run/simulator/progress.h"

namespace viaduct::cli {
namespace {

constexpr const char* kPathFooter =
    R"(--up (from the first interface to the second) and --down (back) apply to the preceding --pair,
--between or --class; before the first of these options, they set the defaults of all pairs.
SPEC: docs/path-spec.md. Packets that match the filter of a class (tcpdump's syntax) get the SPECs of
the class instead of the pair's. Tags are removed before the path and added after it.

Examples:
  viaduct path --between eth1 eth2 --up "delay=20ms rate=10Mbit queue=100p" --down "delay=20ms"
  viaduct path --between tap0 tap1 --port tap --up "delay=20ms rate=10Mbit"
  viaduct path --between eth1 eth2 --up loss=1% --class 'dns=udp port 53' --up delay=300ms
  viaduct path --pair eth1:vlan=10,eth1:vlan=20 --up delay=5ms --pair eth1:vlan=11,eth1:vlan=21
  viaduct path set --up "delay=50ms"; viaduct path stats --watch
  viaduct path switch-config --vendor ios --link Gi0/1,Gi0/2 --trunk Gi0/24

The exit status is also 0 after Ctrl-C, which ends a path without --duration; it is 4 if p99 of the
lateness exceeds --lateness-limit.)";

struct PathCommandOptions {
  std::string name, graph;
  PairOptions pairs;
  EmulationOptions emulation;
  std::string port = "af_packet";
  bool quiet = false;
};

const std::map<std::string, path::PortKind> kPortKinds = {{"af_packet", path::PortKind::kAfPacket},
                                                          {"af_xdp", path::PortKind::kAfXdp},
                                                          {"dpdk", path::PortKind::kDpdk},
                                                          {"netmap", path::PortKind::kNetmap},
                                                          {"tap", path::PortKind::kTap},
                                                          {"auto", path::PortKind::kAuto}};

path::PathOptions Understand(const CLI::App& command, const PathCommandOptions& options) {
  path::PathOptions path =
      options.emulation.Understand(PairsFromArguments(options.pairs.InOrder(command)));
  path.config.name = options.name;
  const auto port = kPortKinds.find(options.port);
  if (port == kPortKinds.end()) {
    throw UsageError(fmt::format("--port {}: expected af_packet, af_xdp, dpdk, netmap, tap or auto",
                                 options.port));
  }
  path.port = port->second;
  // The path owns the progress display: its destruction erases the status line before the results
  // are printed.
  const auto progress = std::make_shared<run::Progress>(stderr, options.quiet);
  path.note = [progress](const std::string& text) { progress->Line(text); };
  if (!options.quiet && isatty(STDERR_FILENO) == 1) {
    path.status = [progress](const std::string& text) { progress->Status(text); };
  }
  return path;
}

// Opens and returns the file of --graph before the run, which may take long.
std::ofstream OpenGraph(const PathCommandOptions& options) {
  if (options.graph.empty()) return {};
  if (options.emulation.engine.log.empty()) {
    throw UsageError("--graph draws the log; specify --log FILE, too");
  }
  const std::filesystem::path log = options.emulation.engine.log;
  std::error_code none;
  if (std::filesystem::exists(log, none) && !std::filesystem::is_regular_file(log, none)) {
    throw UsageError(fmt::format(
        "--log {}: --graph reads the log at the end; specify a regular file", log.string()));
  }
  std::ofstream graph(options.graph);
  if (graph) return graph;
  throw UsageError(
      fmt::format("--graph {}: cannot be written: {}", options.graph, std::strerror(errno)));
}

void WriteGraph(std::ofstream& graph, const PathCommandOptions& options, const std::string& title) {
  std::ifstream log(options.emulation.engine.log);
  graph << run::LinkGraph(run::ReadLinkLog(log, options.emulation.engine.log), title) << std::flush;
  if (!graph) throw Error(options.graph + ": cannot be written completely");
}

int RunCommand(const CLI::App& command, const PathCommandOptions& options,
               const Invocation& invocation) {
  CheckJsonFile(options.emulation.json_file);
  std::ofstream graph = OpenGraph(options);
  path::PathOptions path = Understand(command, options);
  NeedRoot();
  result::Environment environment = run::DescribeEnvironment(invocation.words);
  result::EngineResult result = path::RunPath(std::move(path));
  result.environment = std::move(environment);
  const std::string& json_file = options.emulation.json_file;
  if (json_file != "-") std::fputs(path::StatisticsTable(result).c_str(), stdout);
  if (!json_file.empty()) WriteJson(json_file, result);
  if (graph.is_open()) WriteGraph(graph, options, result.name);
  return Conclude(result, std::nullopt);
}

void AddOptions(CLI::App& command, PathCommandOptions& options) {
  options.pairs.AddPairs(command);
  options.pairs.AddSpecs(command, "the SPEC from the first interface to the second",
                         "the SPEC from the second interface to the first");
  command.add_option(
      "--name", options.name,
      "the name of the path, for set, stats and ls; default: the name of the first pair");
  options.emulation.AddTo(command, "the duration of the path, such as 10s; default: until Ctrl-C",
                          "write the results to this file; - is standard output");
  command
      .add_option("--graph", options.graph,
                  "draw the throughput and the delay over time from --log in FILE.svg")
      ->type_name("FILE");
  command
      .add_option(
          "--port", options.port,
          "the access to the interfaces: af_packet (default), af_xdp, dpdk, netmap, auto (af_xdp "
          "if "
          "the driver supports zero-copy), or tap (the path is at the other end of TAP devices, "
          "which are created if they do not exist)")
      ->type_name("KIND");
  command.add_flag("--quiet", options.quiet, "do not print progress");
}

}  // namespace

void AddPath(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<PathCommandOptions>();
  CLI::App* command = app.add_subcommand("path", "emulate a path between two interfaces");
  AddOptions(*command, *options);
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
