// viaduct up: builds a lab and leaves it running.
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/privilege.h"
#include "run/keeper.h"
#include "scenario/scenario.h"

namespace viaduct::cli {
namespace {

void Up(const ScenarioOptions& options, bool quiet) {
  scenario::Scenario scenario = options.Understand(options.Text());
  if (!scenario.hosts.empty()) {
    throw UsageError(options.file + ": hosts: a lab on several hosts is for viaduct run");
  }
  if (scenario.mode == scenario::Mode::kSimulate) {
    throw UsageError("mode simulate builds no lab; use emulate or offload");
  }
  scenario::ResolveContainers(&scenario);
  NeedRoot();
  run::BringUp(scenario, quiet);
  if (!quiet) {
    std::fprintf(stderr, "lab %s is up; viaduct exec %s -- CMD, viaduct down %s\n",
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
  CLI::App* command = app.add_subcommand("up", "build a scenario's lab and leave it up");
  options->scenario.AddTo(*command);
  command->add_flag("--quiet", options->quiet, "no progress");
  command->footer(
      "The protocol keeps running in the background; the scenario's flows and programs do not "
      "run.\n"
      "Example:\n  viaduct up examples/olsr-line.yaml && viaduct exec n0 -- ping -c 3 10.0.0.14");
  command->callback([options] { Up(options->scenario, options->quiet); });
}

}  // namespace viaduct::cli
