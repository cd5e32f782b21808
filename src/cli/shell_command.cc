// viaduct shell: a program behind an emulated path.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/within.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/foreground.h"
#include "cli/output.h"
#include "cli/privilege.h"
#include "emulate/path_report.h"
#include "emulate/shell.h"
#include "engine/describe.h"
#include "path/spec/spec.h"
#include "run/environment.h"

namespace viaduct::cli {
namespace {

struct ShellOptions {
  std::string up, down, json_file;
  EngineOptions engine;
  bool verbose = false;
  std::vector<std::string> words;
};

path::Spec Parse(const char* option, const std::string& text) {
  return Within(fmt::format("{} \"{}\"", option, text), [&] { return path::ParseSpec(text); });
}

void Report(const ShellOptions& options, const Invocation& invocation,
            const engine::Statistics& statistics, uint64_t seed) {
  result::EngineResult result = engine::DescribeStatistics(statistics, std::nullopt);
  result.seed = seed;
  if (options.verbose) std::fputs(emulate::StatisticsTable(result).c_str(), stderr);
  if (options.json_file.empty()) return;
  result.environment = run::DescribeEnvironment(invocation.words);
  WriteJson(options.json_file, result);
}

int RunShell(const ShellOptions& options, const Invocation& invocation) {
  CheckJsonFile(options.json_file);
  engine::Config config =
      emulate::ShellPath(Parse("--up", options.up), Parse("--down", options.down));
  options.engine.Fill(&config);
  const uint64_t seed = config.seed;
  NeedRoot();
  Foreground foreground;  // first: a signal from here on cannot end the process half-way
  emulate::Shell shell(std::move(config));
  broker::ProgramOptions program = shell.Program(options.words);
  foreground.Lend(&program);
  if (options.verbose) {
    std::fprintf(stderr, "viaduct shell: the host is %s (seed %llu)%s%s\n",
                 shell.host_address().c_str(), static_cast<unsigned long long>(seed),
                 shell.limits().empty() ? "" : "; ", shell.limits().c_str());
  }
  StartAsShell([&] { shell.Start(program); });
  const int status =
      foreground.Follow(shell.exit_status(), [&](int number) { shell.Signal(number); });
  Report(options, invocation, shell.Stop(), seed);
  return status;
}

}  // namespace

void AddShell(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ShellOptions>();
  CLI::App* command = app.add_subcommand("shell", "run a program behind an emulated path");
  command->add_option("--up", options->up, "from the program to the outside")->type_name("SPEC");
  command->add_option("--down", options->down, "from the outside to the program")
      ->type_name("SPEC");
  options->engine.AddTo(*command);
  command->add_option("--json", options->json_file, "write the counters to this file")
      ->type_name("FILE");
  command->add_flag("--verbose", options->verbose,
                    "print what the program can reach, and the counters at the end");
  command->add_option("COMMAND", options->words,
                      "the program and its arguments, after --; default: your login shell");
  command->footer(
      "The program runs as you in a network namespace of its own, with NAT to where you are; this\n"
      "machine is $VIADUCT_HOST. Shells may be nested: their paths add up. SPEC: "
      "docs/path-spec.md.\n"
      "The exit status is the program's.\n"
      "Examples:\n"
      "  viaduct shell --down \"rate=10Mbit delay=40ms queue=100p\" -- curl -sO "
      "https://debian.org\n"
      "  viaduct shell --up loss=1% --down loss=1% -- bash");
  command->callback([options, &invocation] { invocation.status = RunShell(*options, invocation); });
}

}  // namespace viaduct::cli
