// viaduct path set, stats, ls: change, observe and list paths while they run.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "base/clock.h"
#include "base/error.h"
#include "base/text/json_text.h"
#include "base/text/terminal_text.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/listings.h"
#include "cli/output.h"
#include "lab/broker/lab_engine.h"
#include "lab/record.h"
#include "path/engine/control.h"
#include "path/live/path_record.h"
#include "path/live/path_report.h"
#include "sys/event_loop.h"

namespace viaduct::cli {
namespace {

using nlohmann::json;

// Returns the control socket of the path engine that emulates the links of a lab. Throws if the lab
// has no path engine.
std::string EngineSocket(const lab::RunInfo& run) {
  if (run.engine_alive) return broker::EngineSocketPath(run.name);
  if (run.engine_pid != 0)
    throw Error("the path engine of lab " + run.name + " exited unexpectedly");
  throw UsageError("lab " + run.name +
                   " has no link that the path engine emulates: no link has a SPEC, or the eBPF "
                   "program of data_plane: joined emulates the SPECs, which can change only in a "
                   "lab of `viaduct up`");
}

// The options by which `set` and `stats` select a path.
struct Choice {
  std::string name, pair;
  std::vector<std::string> between;

  void AddTo(CLI::App& command) {
    command.add_option(
        "NAME", name,
        "the path, shell or lab; may be omitted in a shell, and if only one path runs here");
    command.add_option("--between", between, "select the path between these two interfaces")
        ->expected(2);
  }
  std::string Pair() const {
    return !pair.empty() ? pair : between.empty() ? "" : between[0] + "-" + between[1];
  }
  std::string Socket() const {
    for (const lab::RunInfo& run : lab::ListRuns()) {
      if (!name.empty() && run.name == name && run.alive) return EngineSocket(run);
    }
    return path::FindPath(name, Pair()).control_socket();
  }
};

void Set(const Choice& choice, const engine::ControlRequest& given) {
  if (!given.up && !given.down)
    throw UsageError("nothing to set: specify --up SPEC or --down SPEC");
  engine::ControlRequest request = given;
  request.kind = engine::ControlRequest::Kind::kSet;
  if (!choice.Pair().empty()) request.pair = choice.Pair();
  engine::Ask(choice.Socket(), request);
}

struct Format {
  bool as_json = false, as_prometheus = false, watch = false;
  std::string interval = "1s";
};

void PrintStatistics(const result::EngineResult& statistics, const Format& format) {
  if (format.as_prometheus) {
    PrintText(path::PrometheusText(statistics));
  } else if (format.as_json) {
    // Prints each object on one line while watching, so that a program can read each object as it
    // is printed.
    PrintText(JsonText(json(statistics), format.watch ? -1 : 2) + "\n");
  } else {
    const bool clears = format.watch && isatty(STDOUT_FILENO) == 1;
    const std::string text =
        fmt::format("path {}, {:.1f} s\n{}", statistics.name, statistics.seconds.value_or(0),
                    path::StatisticsTable(statistics));
    PrintText((clears ? "\033[H\033[2J" : "") + TerminalText(text));
  }
}

void Stats(const Choice& choice, const Format& format) {
  if (format.as_json && format.as_prometheus)
    throw UsageError("--json and --prometheus exclude each other");
  const Duration interval = PositiveDuration("--interval", format.interval);
  const std::string socket = choice.Socket();
  const auto print = [&] {
    PrintStatistics(engine::Ask(socket, {}).at("stats").get<result::EngineResult>(), format);
  };
  print();
  if (!format.watch) return;
  sys::EventLoop loop;
  for (Instant next = MonotonicClock::Now() + interval;; next += interval) {
    try {
      loop.Run([] { return false; }, next);
      print();
    } catch (const sys::Interrupted&) {
      return;  // a signal is the normal way to end the watching
    } catch (const UsageError&) {
      return;  // the path has ended
    }
  }
}

void PrintPaths(bool as_json) {
  std::vector<ListedPath> list;
  std::vector<std::vector<std::string>> rows = {{"path", "state", "pid", "pairs", "since"}};
  for (const path::PathInfo& info : path::ListPathsAndShells()) {
    const std::string state = info.alive ? "running" : "dead";
    list.push_back({info.name, state, info.pid, info.uid, info.interfaces, info.pairs,
                    info.control_socket(), info.created});
    rows.push_back({info.name, state, std::to_string(info.pid),
                    fmt::format("{}", fmt::join(info.pairs, " ")), info.created});
  }
  PrintList(as_json, list, rows, "no paths; start a path with viaduct path --between A B");
}

}  // namespace

void AddPathSet(CLI::App& path, Invocation&) {
  struct Options {
    Choice choice;
    std::string class_name;
    std::vector<std::string> up, down;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = path.add_subcommand("set", "change a running path");
  options->choice.AddTo(*command);
  command->add_option("--pair", options->choice.pair, "the pair, if the path has several pairs");
  command->add_option("--class", options->class_name, "the class of packets whose SPECs change");
  command->add_option("--up", options->up, "the SPEC from the first interface to the second")
      ->type_name("SPEC")
      ->expected(1);
  command->add_option("--down", options->down, "the SPEC from the second interface to the first")
      ->type_name("SPEC")
      ->expected(1);
  command->footer(
      "Changes only the specified keys; KEY=none removes a key. Packets in flight are kept. If\n"
      "the change is invalid, nothing changes.\n"
      "Example:\n  viaduct path set --between eth1 eth2 --up \"delay=50ms rate=none\"");
  command->callback([options] {
    engine::ControlRequest request;
    if (!options->class_name.empty()) request.class_name = options->class_name;
    if (!options->up.empty()) request.up = options->up.front();
    if (!options->down.empty()) request.down = options->down.front();
    Set(options->choice, request);
  });
}

void AddPathStats(CLI::App& path, Invocation&) {
  struct Options {
    Choice choice;
    Format format;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = path.add_subcommand("stats", "print the statistics of a running path");
  options->choice.AddTo(*command);
  command->add_flag("--watch", options->format.watch,
                    "print the statistics repeatedly until Ctrl-C");
  command->add_option("--interval", options->format.interval,
                      "the interval of --watch; default: 1s");
  command->add_flag("--json", options->format.as_json, "print JSON");
  command->add_flag("--prometheus", options->format.as_prometheus,
                    "print the Prometheus text format");
  command->footer("Example:\n  viaduct path stats --between eth1 eth2 --watch");
  command->callback([options] { Stats(options->choice, options->format); });
}

void AddPathList(CLI::App& path, Invocation&) {
  CLI::App* command = path.add_subcommand("ls", "list the running paths of this machine");
  const auto as_json = AddJsonFlag(*command);
  command->footer("Example:\n  viaduct path ls --json");
  command->callback([as_json] { PrintPaths(*as_json); });
}

}  // namespace viaduct::cli
