// viaduct kernel shell: runs a shell or program on a kernel node of a paused simulation, attached
// to this terminal. viaduct kernel resume: continues the simulation.
#include <cstdio>
#include <memory>

#include "cli/arguments.h"
#include "cli/command.h"
#include "guest/shell/paused.h"
#include "guest/shell/shell_client.h"

namespace viaduct::cli {
namespace {

int OpenShell(const std::string& target, const std::vector<std::string>& words) {
  const NodeName name(target);
  const guest::PausedSimulation paused = guest::FindPaused(name.place);
  guest::ShellClient shell(paused, name.node, words);
  const guest::ShellClient::Opened opened = shell.Open();
  if (shell.Interactive()) {
    std::fprintf(stderr,
                 "%s: Linux %s at virtual time %.6f s of simulation %s. Virtual time stands still "
                 "at the prompt and passes while a command runs.\n",
                 name.node.c_str(), opened.release.c_str(), opened.time, paused.simulation.c_str());
  }
  const int status = shell.Follow();
  if (shell.Interactive()) {
    std::fprintf(stderr, "%s is still paused: continue it with viaduct kernel resume\n",
                 paused.simulation.c_str());
  }
  return status;
}

}  // namespace

void AddKernelShell(CLI::App& kernel, Invocation& invocation) {
  struct Options {
    std::string target;
    std::vector<std::string> words;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = kernel.add_subcommand(
      "shell", "open a shell, or run a program, on a kernel node of a paused simulation");
  command
      ->add_option("NODE", options->target,
                   "the node; SIMULATION:NODE if several simulations are paused")
      ->required();
  command->add_option("COMMAND", options->words, "a program and its arguments; default: a shell");
  command->footer(
      "Virtual time stands still while every shell waits at its prompt. While a command runs, "
      "the\nentire simulation continues at the pace of the wall clock: sleep 5 lets five seconds "
      "pass.\nExamples:\n  viaduct run line.yaml --mode simulate --pause-at 5s     then, in "
      "another terminal:\n  viaduct kernel shell n0\n  viaduct kernel shell n0 -- ss -ti\n  "
      "viaduct kernel resume");
  command->callback(
      [options, &invocation] { invocation.status = OpenShell(options->target, options->words); });
}

void AddKernelResume(CLI::App& kernel, Invocation&) {
  auto name = std::make_shared<std::string>();
  CLI::App* command = kernel.add_subcommand("resume", "continue a paused simulation");
  command->add_option("SIMULATION", *name,
                      "the name or pid of the simulation; may be omitted if only one is paused");
  command->footer("Example:\n  viaduct kernel resume");
  command->callback([name] { guest::Resume(guest::FindPaused(*name)); });
}

}  // namespace viaduct::cli
