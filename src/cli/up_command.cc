// viaduct up: builds a lab that stays up after the command has ended.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/privilege.h"
#include "run/supervisor.h"
#include "scenario/scenario.h"

namespace viaduct::cli {
namespace {

// Returns the parts of a scenario that are not run in a lab that stays up: "flows (2), captures
// (1)".
std::string PartsNotRun(const scenario::Scenario& scenario) {
  const std::pair<const char*, size_t> parts[] = {
      {"flows", scenario.flows.size()},
      {"programs", scenario.programs.size()},
      {"events", scenario.link_events.size()},
      {"captures", scenario.captures.size()},
      {"routing.sample", scenario.routing.sample ? 1 : 0}};
  std::string text;
  for (const auto& [key, count] : parts) {
    if (count > 0) text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", key, count);
  }
  return text;
}

void Up(const ScenarioOptions& options, bool quiet) {
  scenario::Scenario scenario = options.Understand(options.Text());
  if (!scenario.machines.empty()) {
    throw UsageError(options.file +
                     ": machines: only viaduct run supports a lab on several machines");
  }
  if (scenario.mode == scenario::Mode::kSimulate) {
    throw UsageError("mode simulate does not build a lab; use mode emulate or offload");
  }
  scenario::ResolveContainers(&scenario);
  NeedRoot();
  if (const std::string parts = PartsNotRun(scenario); !parts.empty()) {
    std::fprintf(stderr,
                 "viaduct up does not run these parts of the scenario: %s; use viaduct run\n",
                 parts.c_str());
  }
  run::BringUp(scenario, quiet);
  if (!quiet) {
    std::fprintf(
        stderr,
        "lab %s is up; use it with viaduct exec %s -- CMD, remove it with viaduct down %s\n",
        scenario.name.c_str(), scenario.nodes[0].name.c_str(), scenario.name.c_str());
  }
}

}  // namespace

void AddUp(CLI::App& app, Invocation&) {
  struct Options {
    ScenarioOptions scenario;
    bool quiet = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("up", "build the lab of a scenario and leave the lab up");
  options->scenario.AddTo(*command);
  command->add_flag("--quiet", options->quiet, "no progress");
  command->footer(
      "The protocol continues to run in the background. The scenario's flows, programs, events "
      "and\n"
      "captures do not run, which the command reports.\n"
      "Example:\n  viaduct up examples/olsr-line.yaml && viaduct exec n0 -- ping -c 3 10.0.0.14");
  command->callback([options] { Up(options->scenario, options->quiet); });
}

}  // namespace viaduct::cli
