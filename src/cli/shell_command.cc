// viaduct shell: runs a program behind an emulated path.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <memory>

#include "base/units.h"
#include "base/within.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/foreground.h"
#include "cli/output.h"
#include "cli/path_options.h"
#include "cli/privilege.h"
#include "path/live/path_emulation.h"
#include "path/live/path_report.h"
#include "path/shell/shell.h"
#include "path/shell/shell_drain.h"
#include "run/simulator/environment.h"

namespace viaduct::cli {
namespace {

// The time between SIGTERM, which is sent to the program when the duration has passed, and SIGKILL.
constexpr Duration kTerminationTimeout = Duration::Seconds(2);

struct ShellOptions {
  PairOptions pairs;
  EmulationOptions emulation;
  std::string drain = "5s";
  bool verbose = false, new_privileges = false;
  std::vector<std::string> words;
};

void Note(const std::string& text) { std::fprintf(stderr, "viaduct shell: %s\n", text.c_str()); }

void Introduce(const path::Shell& shell, uint64_t seed) {
  const path::ShellInside& host = shell.host();
  Note(fmt::format("{}: this machine has the address {}{}{} (seed {}){}{}", shell.name(),
                   host.machine, host.machine6.empty() ? "" : " and ", host.machine6, seed,
                   shell.limits().empty() ? "" : "; ", shell.limits()));
}

void ReportDrain(const result::DrainResult& drain) {
  Note(fmt::format(
      "the path stopped {:.1f} s after the program ended; {} packets and {} connections were cut "
      "off",
      drain.seconds, drain.packets, drain.connections));
}

void Report(const ShellOptions& options, const result::EngineResult& result) {
  if (options.verbose) {
    ReportDrain(*result.drain);
    std::fputs(path::StatisticsTable(result).c_str(), stderr);
  }
  if (options.emulation.json_file.empty()) return;
  WriteJson(options.emulation.json_file, result);
}

void EndAt(Instant end, path::Shell& shell, sys::EventLoop& loop) {
  if (end == Instant::Never()) return;
  loop.At(end, [&shell] { shell.Signal(SIGTERM); });
  loop.At(end + kTerminationTimeout, [&shell] { shell.Signal(SIGKILL); });
}

int RunShell(const CLI::App& command, const ShellOptions& options, const Invocation& invocation) {
  CheckJsonFile(options.emulation.json_file);
  result::Environment environment = run::DescribeEnvironment(invocation.words);
  path::PathOptions given = options.emulation.Understand(
      PairsFromArguments(options.pairs.InOrder(command), path::ShellPath()));
  given.note = Note;
  const Duration drain = Within("--drain", [&] { return ParseDuration(options.drain); });
  NeedRoot();
  // This object is constructed first: it blocks signals, which could end the process half-way.
  Foreground foreground;
  path::PathEmulation path(std::move(given));
  auto ports = std::make_unique<path::Shell>();
  path::Shell& shell = *ports;
  privilege::ProgramOptions program = shell.Program(options.words);
  program.new_privileges = options.new_privileges;
  foreground.Lend(&program);
  if (options.verbose) Introduce(shell, path.options().config.seed);
  if (!shell.ipv6_limits().empty()) Note("IPv4 only: " + shell.ipv6_limits());
  path.Start(std::move(ports), foreground.loop());
  const UniqueFd exit_status = StartAsShell([&] { return shell.StartProgram(program); });
  EndAt(path.EndsAt(), shell, foreground.loop());
  const int status =
      foreground.Follow(exit_status.get(), [&](int number) { shell.Signal(number); });
  const result::DrainResult rest = path::Drain(path, shell, foreground.loop(), drain);
  path.Stop();
  result::EngineResult result = path.Describe();
  result.drain = rest;
  result.environment = std::move(environment);
  Report(options, result);
  return Conclude(result, status);
}

}  // namespace

void AddShell(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ShellOptions>();
  CLI::App* command = app.add_subcommand("shell", "run a program behind an emulated path");
  options->pairs.AddSpecs(*command, "the SPEC from the program to the outside",
                          "the SPEC from the outside to the program");
  options->emulation.AddTo(*command,
                           "the time after which the program gets SIGTERM: 10s; default: never",
                           "write the results to this file");
  command
      ->add_option("--drain", options->drain,
                   "how long to wait for packets in flight after the program has ended")
      ->capture_default_str();
  command->add_flag("--verbose", options->verbose,
                    "print at the start the addresses that this machine has in the shell, and at "
                    "the end the counters");
  AddNewPrivilegesFlag(*command, options->new_privileges);
  command->add_option("COMMAND", options->words,
                      "the program and its arguments, after --; default: your login shell");
  command->footer(
      "The program runs as you in a separate network namespace, with NAT to your network; this\n"
      "machine has the addresses $VIADUCT_HOST and $VIADUCT_HOST6. Shells may be nested: their "
      "paths\n"
      "add up. SPEC: docs/path-spec.md. --up and --down after a --class apply to the packets of "
      "this\n"
      "class. In the shell, viaduct path set and stats use the shell's path; elsewhere specify "
      "the\n"
      "name that viaduct path ls prints. The pair of the path is \"shell\". The exit status is "
      "the\n"
      "program's: 127 if it does not exist, 126 if it cannot be executed; 4 if p99 of the "
      "lateness\n"
      "exceeds --lateness-limit.\n"
      "Examples:\n"
      "  viaduct shell --down \"rate=10Mbit delay=40ms queue=100p\" -- curl -sO "
      "https://debian.org\n"
      "  viaduct shell --up loss=1% --down loss=1% -- bash");
  command->callback([command, options, &invocation] {
    invocation.status = RunShell(*command, *options, invocation);
  });
}

}  // namespace viaduct::cli
