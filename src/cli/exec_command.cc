// viaduct exec: runs a program in a node of a lab that is up.
#include <memory>

#include "base/error.h"
#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/foreground.h"
#include "cli/labs.h"
#include "lab/broker/client.h"

namespace viaduct::cli {
namespace {

// The timeout for a broker that must send a signal to the program: a user who sends another signal
// does not wait longer.
constexpr Duration kSignalTimeout = Duration::Seconds(10);

struct ExecOptions {
  std::string target;
  std::vector<std::string> words;
  bool new_privileges = false;
};

int Exec(const ExecOptions& given) {
  const NodeName name(given.target);
  broker::Client client = broker::Client::ConnectToLab(ChooseLab(name.place));
  broker::ProgramOptions options;
  options.node = name.node;
  options.arguments = given.words;
  options.new_privileges = given.new_privileges;
  Foreground foreground;
  foreground.Lend(&options);
  const broker::Program program = StartAsShell([&] { return client.Spawn(options); });
  return foreground.Follow(program.exit_status.get(), [&](int signal) {
    try {
      client.LimitWaiting(kSignalTimeout);
      client.Kill(program.pid, signal);
    } catch (const UsageError&) {
      // Ignores the error: the program has just ended, and its status is read next.
    }
  });
}

}  // namespace

void AddExec(CLI::App& app, Invocation& invocation) {
  auto options = std::make_shared<ExecOptions>();
  CLI::App* command = app.add_subcommand("exec", "run a program in a node of a lab that is up");
  command->add_option("NODE", options->target, "the node; LAB:NODE if several labs are up")
      ->required();
  AddNewPrivilegesFlag(*command, options->new_privileges);
  command->add_option("COMMAND", options->words, "the program and its arguments")->required();
  command->footer(
      "The program uses the standard input and output of this command, which exits with the exit\n"
      "status of the program (127 if the program does not exist, 126 if it cannot be executed). "
      "On\n"
      "a terminal the program gets a pseudoterminal, so that shells and full-screen programs "
      "work.\n"
      "Examples:\n"
      "  viaduct exec n0 -- ping -c 3 n4\n"
      "  viaduct exec n0 -- bash");
  command->callback([options, &invocation] { invocation.status = Exec(*options); });
}

}  // namespace viaduct::cli
