// viaduct exec: a program in a node of a lab that is up.
#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>

#include "base/error.h"
#include "broker/client.h"
#include "cli/command.h"
#include "cli/labs.h"
#include "cli/terminal.h"
#include "run/loop.h"

namespace viaduct::cli {
namespace {

UniqueFd CatchSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGWINCH}) sigaddset(&set, signal);
  UniqueFd fd(SystemCall("signalfd", signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK)));
  sigaddset(&set, SIGTTOU);  // restoring a terminal must not stop in the background
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return fd;
}

int TakeSignal(int signals) {
  signalfd_siginfo info;
  return read(signals, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

void PassOnSignal(int signal, broker::Client& client, int pid) {
  if (signal == 0 || signal == SIGWINCH) return;
  try {
    client.Kill(pid, signal);
  } catch (const UsageError&) {
    // It has just ended; its status comes next.
  }
}

// As a shell reports it.
int ShellStatus(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

// The status of a program whose exit_status is readable; nothing if it was not, after all.
std::optional<int> TakeStatus(const broker::Program& program) {
  int32_t status = 0;
  const ssize_t got = read(program.exit_status.get(), &status, sizeof status);
  if (got == sizeof status) return ShellStatus(status);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return std::nullopt;
  throw Error("the lab was taken down, and the program with it");
}

void Poll(std::span<pollfd> fds, int milliseconds = -1) {
  if (poll(fds.data(), fds.size(), milliseconds) >= 0) return;
  if (errno != EINTR) throw SystemError("poll", errno);
  for (pollfd& entry : fds) entry.revents = 0;
}

int Wait(broker::Client& client, const broker::Program& program, int signals) {
  for (;;) {
    pollfd fds[] = {{signals, POLLIN, 0}, {program.exit_status.get(), POLLIN, 0}};
    Poll(fds);
    if (fds[0].revents) PassOnSignal(TakeSignal(signals), client, program.pid);
    if (!fds[1].revents) continue;
    if (const auto status = TakeStatus(program)) return *status;
  }
}

// What an ended program had written is in the pty; a child of it may keep the pty open.
void Drain(Relay& output) {
  while (!output.Over()) {
    pollfd entry{output.Fd(), output.Events(), 0};
    const bool reading = output.Events() == POLLIN;
    Poll({&entry, 1}, reading ? 0 : -1);
    if (reading && !entry.revents) return;
    output.Step();
  }
}

// Works as long as anybody has the program's terminal. The program's status, if it has ended.
std::optional<int> Connect(broker::Client& client, const broker::Program& program, int signals,
                           Pty& pty) {
  const RawMode raw(STDIN_FILENO);
  Relay input(STDIN_FILENO, pty.Master()), output(pty.Master(), STDOUT_FILENO);
  while (!output.Over()) {
    pollfd fds[] = {{signals, POLLIN, 0},
                    {program.exit_status.get(), POLLIN, 0},
                    {input.Fd(), input.Events(), 0},
                    {output.Fd(), output.Events(), 0}};
    Poll(fds);
    if (fds[0].revents) {
      const int signal = TakeSignal(signals);
      if (signal == SIGWINCH) pty.Resize();
      // The pty goes with this process, and hangs up on all that use it.
      if (signal == SIGTERM || signal == SIGHUP) throw run::Interrupted(signal);
      PassOnSignal(signal, client, program.pid);
    }
    if (fds[2].revents) input.Step();
    if (fds[3].revents) output.Step();
    if (!fds[1].revents) continue;
    if (const auto status = TakeStatus(program)) {
      Drain(output);
      return status;
    }
  }
  return std::nullopt;
}

int ExecOnTerminal(broker::Client& client, broker::ProgramOptions& options) {
  Pty pty(STDIN_FILENO);
  options.terminal = true;
  options.standard_input = options.standard_output = pty.slave.get();
  if (isatty(STDERR_FILENO)) options.standard_error = pty.slave.get();
  // The lab may have been started on another kind of terminal, or on none.
  for (const char* name : {"TERM", "COLORTERM"}) {
    if (const char* value = std::getenv(name)) options.environment[name] = value;
  }
  const UniqueFd signals = CatchSignals();
  const broker::Program program = client.Spawn(options);
  pty.slave.reset();
  const auto status = Connect(client, program, signals.get(), pty);
  // A program that has closed its terminal can still be interrupted.
  return status ? *status : Wait(client, program, signals.get());
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
  if (OnTerminal()) return ExecOnTerminal(client, options);
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
      "Standard input and output are the program's; its exit status is this command's. On a\n"
      "terminal the program gets one of its own: shells and full-screen programs work.\n"
      "Examples:\n"
      "  viaduct exec n0 -- ping -c 3 10.0.0.14\n"
      "  viaduct exec n0 -- bash");
  command->callback(
      [options, &invocation] { invocation.status = Exec(options->target, options->words); });
}

}  // namespace viaduct::cli
