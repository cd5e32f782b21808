// viaduct run: runs a scenario once, or once in each of several modes to compare them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/attempts.h"
#include "base/error.h"
#include "base/text/terminal_text.h"
#include "base/units.h"
#include "base/within.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/privilege.h"
#include "run/machines/launch.h"
#include "run/machines/placement.h"
#include "run/report/report.h"
#include "run/report/table.h"
#include "run/run.h"
#include "run/separate_run.h"
#include "scenario/scenario.h"
#include "sys/event_loop.h"

namespace viaduct::cli {
namespace {

using nlohmann::json;
using result::RunResult;
using scenario::Scenario;

constexpr const char* kRunFooter = R"(Examples:
  viaduct run examples/olsr-line.yaml --report out     results, plots and raw data in out/
  viaduct run examples/grid.yaml --mode simulate --json -
  viaduct run --topo ring,6 --protocol RIP --mode simulate
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

// Checks before the run, which may take minutes, that the files for the results can be written.
void CheckWritable(const RunCommandOptions& options) {
  if (!options.report.empty()) run::MakeReportDirectory(options.report);
  CheckJsonFile(options.json_file);
}

run::RunOptions OptionsOfRun(const RunCommandOptions& options, const Invocation& invocation) {
  run::RunOptions run_options;
  run_options.quiet = options.quiet;
  run_options.directory = options.report;
  run_options.pauses = PausesOf(options);
  run_options.command_line = invocation.words;
  return run_options;
}

// Prints and writes the results; no other function does. Tries each kind of output, even if an
// earlier one failed. `document`: the results for --json.
void Deliver(const RunCommandOptions& options, const std::string& table, const json& document,
             const std::vector<RunResult>& runs) {
  Attempts attempts;
  if (options.json_file != "-") attempts.Try([&] { PrintText(table); });
  if (!options.json_file.empty()) attempts.Try([&] { WriteJson(options.json_file, document); });
  if (!options.report.empty()) {
    attempts.Try([&] {
      run::WriteReport(options.report, runs);
      std::fprintf(stderr, "report: %s/index.html\n", options.report.c_str());
    });
  }
  for (const RunResult& run : runs) {
    for (const std::string& failure : run.failures) {
      const std::string mode = runs.size() > 1 ? "mode " + run.scenario.mode + ": " : "";
      std::fprintf(stderr, "viaduct: %s%s\n", mode.c_str(), TerminalText(failure).c_str());
    }
  }
  attempts.Finish();
}

int RunOne(const RunCommandOptions& options, const Invocation& invocation,
           const Scenario& scenario) {
  const RunResult results = run::Execute(scenario, OptionsOfRun(options, invocation));
  Deliver(options, run::ResultTable(results), results, {results});
  return results.status;
}

// Runs a lab on several machines. The user needs access to the machines, but need not be root on
// this machine.
int RunLaunched(const RunCommandOptions& options, const Invocation& invocation,
                const Scenario& scenario) {
  machines::LaunchRequest request;
  request.quiet = options.quiet;
  if (!options.report.empty()) request.directory = std::filesystem::absolute(options.report);
  request.command_line = invocation.words;
  const RunResult results = machines::RunOnMachines(scenario, request);
  Deliver(options, run::ResultTable(results), results, {results});
  return results.status;
}

// Assigns the nodes of a lab to its machines. The assignment is part of the scenario and its hash.
void Place(Scenario& scenario) {
  if (scenario.machines.empty()) return;
  machines::PlaceNodes(scenario);
  scenario.hash = scenario::Hash(scenario);
}

int RunComparison(const RunCommandOptions& options, const Invocation& invocation,
                  const std::vector<Scenario>& scenarios) {
  std::vector<RunResult> runs;
  int worst = 0;
  for (const Scenario& scenario : scenarios) {
    const std::string mode = scenario::ModeName(scenario.mode);
    if (!options.quiet) std::fprintf(stderr, "== mode %s\n", mode.c_str());
    run::RunOptions run_options = OptionsOfRun(options, invocation);
    if (!options.report.empty()) run_options.directory = options.report + "/" + mode;
    auto [results, status] = run::ExecuteSeparately(scenario, run_options);
    if (results) runs.push_back(std::move(*results));
    worst = std::max(worst, status);
    if (status > 128) break;  // a signal interrupted the run
  }
  if (!runs.empty()) Deliver(options, run::ComparisonTable(runs), {{"runs", runs}}, runs);
  if (worst > 128) throw sys::Interrupted(worst - 128);
  return worst;
}

// Checks the options of pauses that the simulator would reject only after the lab was built; the
// simulator checks everything else.
void CheckPauses(const RunCommandOptions& options, const Scenario& scenario) {
  if (PausesOf(options).empty()) return;
  if (!options.compare.empty()) throw UsageError("--pause-at and --compare exclude each other");
  if (scenario.mode == scenario::Mode::kSimulate) return;
  throw UsageError(fmt::format("--pause-at: only mode simulate can be paused, not mode {}",
                               scenario::ModeName(scenario.mode)));
}

int RunCommand(const RunCommandOptions& options, const Invocation& invocation) {
  std::vector<Scenario> scenarios;
  const std::string text = options.scenario.Text();
  if (options.compare.empty()) {
    scenarios.push_back(options.scenario.Understand(text));
  } else {
    if (!options.scenario.mode.empty()) throw UsageError("--mode and --compare exclude each other");
    for (const std::string& mode : SplitList("--compare", options.compare)) {
      ScenarioOptions scenario = options.scenario;
      scenario.mode = mode;
      scenarios.push_back(scenario.Understand(text));
    }
  }
  for (Scenario& scenario : scenarios) Place(scenario);
  const bool on_machines = !scenarios[0].machines.empty();
  if (options.print) {
    for (const Scenario& scenario : scenarios) {
      std::fputs(scenario::Print(scenario).c_str(), stdout);
    }
    return 0;
  }
  if (on_machines && !options.compare.empty()) {
    throw UsageError(
        "--compare is not possible for a lab on several machines; remove the key machines");
  }
  for (Scenario& scenario : scenarios) {
    if (on_machines) continue;
    scenario::ResolveContainers(&scenario);
    if (scenario.mode != scenario::Mode::kSimulate) NeedRoot();
  }
  privilege::NeedNoRoot();
  CheckPauses(options, scenarios[0]);
  CheckWritable(options);
  if (on_machines) return RunLaunched(options, invocation, scenarios[0]);
  return options.compare.empty() ? RunOne(options, invocation, scenarios[0])
                                 : RunComparison(options, invocation, scenarios);
}

}  // namespace

void AddRun(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<RunCommandOptions>();
  CLI::App* command = app.add_subcommand("run", "run a scenario and print its results");
  options->scenario.AddTo(*command);
  command
      ->add_option("--report", options->report,
                   "write an HTML report and the raw data to this directory")
      ->type_name("DIR");
  command
      ->add_option("--json", options->json_file,
                   "write the results to this file; - is standard output")
      ->type_name("FILE");
  command
      ->add_option("--compare", options->compare,
                   "run the scenario once in each of these modes and print one table")
      ->type_name("MODE,...");
  command
      ->add_option("--pause-at", options->pauses,
                   "in mode simulate, pause at this time after convergence, for viaduct kernel "
                   "shell; may be repeated")
      ->type_name("TIME");
  command->add_flag("--print", options->print, "print the scenario with all defaults, and exit");
  command->add_flag("--quiet", options->quiet, "do not print progress");
  command->footer(kRunFooter);
  command->callback(
      [options, &invocation] { invocation.status = RunCommand(*options, invocation); });
}

}  // namespace viaduct::cli
