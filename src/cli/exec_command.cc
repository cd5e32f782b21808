// viaduct exec: a program in a node of a lab that is up.
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <memory>

#include "base/error.h"
#include "broker/client.h"
#include "cli/command.h"
#include "cli/labs.h"

namespace viaduct::cli {
namespace {

UniqueFd CatchSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP}) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return UniqueFd(SystemCall("signalfd", signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)));
}

void PassOnSignal(int signals, broker::Client& client, int pid) {
  signalfd_siginfo info;
  if (read(signals, &info, sizeof info) != sizeof info) return;
  try {
    client.Kill(pid, static_cast<int>(info.ssi_signo));
  } catch (const UsageError&) {
    // It has just ended; its status comes next.
  }
}

// As a shell reports it.
int ShellStatus(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

int Wait(broker::Client& client, const broker::Program& program, int signals) {
  for (;;) {
    pollfd fds[] = {{signals, POLLIN, 0}, {program.exit_status.get(), POLLIN, 0}};
    if (poll(fds, 2, -1) < 0 && errno != EINTR) throw SystemError("poll", errno);
    if (fds[0].revents) PassOnSignal(signals, client, program.pid);
    if (!fds[1].revents) continue;
    int32_t status = 0;
    const ssize_t got = read(program.exit_status.get(), &status, sizeof status);
    if (got == sizeof status) return ShellStatus(status);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    throw Error("the lab was taken down, and the program with it");
  }
}

int Exec(const std::string& target, const std::vector<std::string>& words) {
  const size_t colon = target.find(':');
  const std::string lab = colon == std::string::npos ? "" : target.substr(0, colon);
  broker::Client client = broker::Client::ConnectToLab(ChooseLab(lab));
  broker::ProgramOptions options;
  options.node = colon == std::string::npos ? target : target.substr(colon + 1);
  options.arguments = words;
  options.standard_input = STDIN_FILENO;
  options.standard_output = STDOUT_FILENO;
  options.standard_error = STDERR_FILENO;
  const UniqueFd signals = CatchSignals();
  const broker::Program program = client.Spawn(options);
  return Wait(client, program, signals.get());
}

}  // namespace

void AddExec(CLI::App& app, Invocation& invocation) {
  struct Options {
    std::string target;
    std::vector<std::string> words;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("exec", "run a program in a node of a lab that is up");
  command->add_option("NODE", options->target, "the node; LAB:NODE when several labs are up")
      ->required();
  command->add_option("COMMAND", options->words, "the program and its arguments")->required();
  command->footer(
      "Standard input and output are the program's; its exit status is this command's.\n"
      "Example:\n  viaduct exec n0 -- ping -c 3 10.0.0.14");
  command->callback(
      [options, &invocation] { invocation.status = Exec(options->target, options->words); });
}

}  // namespace viaduct::cli
