// viaduct run: one run of a scenario, or one a mode, compared.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/error.h"
#include "base/fd.h"
#include "base/units.h"
#include "base/within.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "run/report.h"
#include "run/run.h"
#include "run/table.h"
#include "scenario/scenario.h"
#include "sys/event_loop.h"
#include "sys/process.h"

namespace viaduct::cli {
namespace {

using nlohmann::json;
using scenario::Scenario;

constexpr const char* kRunFooter = R"(Examples:
  viaduct run examples/olsr-line.yaml --report out     results, plots and raw data in out/
  viaduct run examples/grid.yaml --mode simulate --json -
  viaduct run examples/olsr-line.yaml --set links.0.spec='delay=5ms' --duration 30s
  viaduct run examples/olsr-line.yaml --compare traditional,emulate,offload)";

struct RunCommandOptions {
  ScenarioOptions scenario;
  std::string report, json_file, compare;
  std::vector<std::string> pauses;
  bool print = false, quiet = false;
};

std::vector<Duration> PausesOf(const RunCommandOptions& options) {
  std::vector<Duration> pauses;
  for (const std::string& text : options.pauses) {
    pauses.push_back(Within("--pause-at", [&] { return ParseDuration(text); }));
  }
  return pauses;
}

std::vector<std::string> SplitModes(const std::string& text) {
  std::vector<std::string> modes;
  std::istringstream stream(text);
  for (std::string mode; std::getline(stream, mode, ',');) modes.push_back(mode);
  if (modes.empty()) throw UsageError("--compare: name modes, as traditional,emulate,offload");
  return modes;
}

// Found out before a run of minutes, not after it.
void CheckWritable(const RunCommandOptions& options) {
  if (!options.report.empty()) run::MakeReportDirectory(options.report);
  if (options.json_file.empty() || options.json_file == "-") return;
  if (!std::ofstream(options.json_file, std::ios::app)) {
    throw UsageError(fmt::format("--json {}: cannot be written", options.json_file));
  }
}

int ReportRun(const RunCommandOptions& options, const json& results) {
  if (options.json_file != "-") std::fputs(run::ResultTable(results).c_str(), stdout);
  if (!options.json_file.empty()) WriteJson(options.json_file, results);
  if (!options.report.empty()) {
    run::WriteReport(options.report, {results});
    std::fprintf(stderr, "report: %s/index.html\n", options.report.c_str());
  }
  for (const json& failure : results.at("failures")) {
    std::fprintf(stderr, "viaduct: %s\n", failure.get<std::string>().c_str());
  }
  return results.at("status").get<int>();
}

int RunOne(const RunCommandOptions& options, const Invocation& invocation,
           const Scenario& scenario) {
  run::RunOptions run_options;
  run_options.quiet = options.quiet;
  run_options.directory = options.report;
  run_options.pauses = PausesOf(options);
  run_options.command_line = invocation.words;
  const json results = run::Execute(scenario, run_options);
  return ReportRun(options, results);
}

// A comparison runs each mode in a process of its own: a process gives up root for its broker only
// once, and a run that fails must not take the others with it. Signals are passed on to it; it
// cleans up, and the comparison ends with it.
volatile pid_t running_child = 0;

void SetSignalHandlers(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

void PassOn(int signal) {
  if (running_child > 0) kill(running_child, signal);
}

[[noreturn]] void RunInChild(const RunCommandOptions& options, const Invocation& invocation,
                             const Scenario& scenario, int results_fd) {
  SetSignalHandlers(SIG_DFL);
  int status = 1;
  try {
    run::RunOptions run_options;
    run_options.quiet = options.quiet;
    run_options.command_line = invocation.words;
    if (!options.report.empty()) {
      run_options.directory = options.report + "/" + scenario::ModeName(scenario.mode);
    }
    const json results = run::Execute(scenario, run_options);
    const std::string text = results.dump();
    for (size_t done = 0; done < text.size();) {
      done += SystemCall("write", write(results_fd, text.data() + done, text.size() - done));
    }
    status = results.at("status").get<int>();
  } catch (const sys::Interrupted& interrupted) {
    status = 128 + interrupted.signal();
  } catch (const Error& error) {
    std::fprintf(stderr, "viaduct: mode %s: %s\n", scenario::ModeName(scenario.mode), error.what());
    status = static_cast<int>(error.status());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "viaduct: mode %s: %s\n", scenario::ModeName(scenario.mode), error.what());
  }
  std::fflush(nullptr);
  sys::ExitForked(status);
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[65536];
  for (;;) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<size_t>(got));
  }
}

// Runs one mode; its results (null when there are none) and exit status.
std::pair<json, int> RunMode(const RunCommandOptions& options, const Invocation& invocation,
                             const Scenario& scenario) {
  int ends[2];
  SystemCall("pipe", pipe2(ends, O_CLOEXEC));
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  SetSignalHandlers(PassOn);
  const pid_t child = SystemCall("fork", fork());
  if (child == 0) RunInChild(options, invocation, scenario, writer.get());
  running_child = child;
  writer.reset();
  const std::string text = ReadAll(reader.get());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  running_child = 0;
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {json::parse(text, nullptr, false), code};
}

int RunComparison(const RunCommandOptions& options, const Invocation& invocation,
                  const std::vector<Scenario>& scenarios) {
  std::vector<json> runs;
  int worst = 0;
  for (const Scenario& scenario : scenarios) {
    if (!options.quiet) {
      std::fprintf(stderr, "== mode %s\n", scenario::ModeName(scenario.mode));
    }
    auto [results, status] = RunMode(options, invocation, scenario);
    if (results.is_object()) runs.push_back(std::move(results));
    if (status > 128) throw sys::Interrupted(status - 128);
    worst = std::max(worst, status);
  }
  if (runs.empty()) return worst;
  if (options.json_file != "-") std::fputs(run::ComparisonTable(runs).c_str(), stdout);
  if (!options.json_file.empty()) WriteJson(options.json_file, {{"runs", runs}});
  if (!options.report.empty()) {
    run::WriteReport(options.report, runs);
    std::fprintf(stderr, "report: %s/index.html\n", options.report.c_str());
  }
  return worst;
}

// The simulator checks the rest; a lab is not to be built first.
void CheckPauses(const RunCommandOptions& options, const Scenario& scenario) {
  if (PausesOf(options).empty()) return;
  if (!options.compare.empty()) throw UsageError("--pause-at and --compare exclude each other");
  if (scenario.mode == scenario::Mode::kSimulate) return;
  throw UsageError(fmt::format("--pause-at: only mode simulate can be paused, not {}",
                               scenario::ModeName(scenario.mode)));
}

int RunCommand(const RunCommandOptions& options, const Invocation& invocation) {
  std::vector<Scenario> scenarios;
  if (options.compare.empty()) {
    scenarios.push_back(scenario::Load(options.scenario.file, options.scenario.Overrides()));
  } else {
    if (!options.scenario.mode.empty()) throw UsageError("--mode and --compare exclude each other");
    for (const std::string& mode : SplitModes(options.compare)) {
      ScenarioOptions scenario = options.scenario;
      scenario.mode = mode;
      scenarios.push_back(scenario::Load(scenario.file, scenario.Overrides()));
    }
  }
  if (options.print) {
    for (const Scenario& scenario : scenarios) {
      std::fputs(scenario::Print(scenario).c_str(), stdout);
    }
    return 0;
  }
  for (const Scenario& scenario : scenarios) {
    if (scenario.mode != scenario::Mode::kSimulate) NeedRoot(invocation);
  }
  CheckPauses(options, scenarios[0]);
  CheckWritable(options);
  return options.compare.empty() ? RunOne(options, invocation, scenarios[0])
                                 : RunComparison(options, invocation, scenarios);
}

}  // namespace

void AddRun(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<RunCommandOptions>();
  CLI::App* command = app.add_subcommand("run", "run a scenario and print its results");
  options->scenario.AddTo(*command);
  command->add_option("--report", options->report, "write an HTML report and the raw data there")
      ->type_name("DIR");
  command->add_option("--json", options->json_file, "write the results there; - is standard output")
      ->type_name("FILE");
  command->add_option("--compare", options->compare, "run once in each of these modes, one table")
      ->type_name("MODE,...");
  command
      ->add_option("--pause-at", options->pauses,
                   "mode simulate: pause so long after convergence, for viaduct kernel shell")
      ->type_name("TIME");
  command->add_flag("--print", options->print, "print the scenario with every default, and stop");
  command->add_flag("--quiet", options->quiet, "no progress");
  command->footer(kRunFooter);
  command->callback(
      [options, &invocation] { invocation.status = RunCommand(*options, invocation); });
}

}  // namespace viaduct::cli
