#include "cli/foreground.h"

#include <poll.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <span>

#include "base/error.h"
#include "sys/child.h"
#include "sys/event_loop.h"
#include "sys/signals.h"

namespace viaduct::cli {
namespace {

void PassOn(int signal, const std::function<void(int)>& pass_on) {
  if (signal != 0 && signal != SIGWINCH) pass_on(signal);
}

// The status of a program whose exit_status is readable; nothing if there is none yet.
std::optional<int> TakeStatus(int exit_status) {
  int32_t status = 0;
  const ssize_t got = read(exit_status, &status, sizeof status);
  if (got == sizeof status) return sys::ShellStatus(status);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return std::nullopt;
  throw Error("the lab was taken down, and the program with it");
}

void Poll(std::span<pollfd> fds, int milliseconds = -1) {
  if (poll(fds.data(), fds.size(), milliseconds) >= 0) return;
  if (errno != EINTR) throw SystemError("poll", errno);
  for (pollfd& entry : fds) entry.revents = 0;
}

// Relays the output that an ended program has left in the pty. It does not wait for the end of the
// pty, which a child of the program may keep open.
void Drain(sys::Relay& output) {
  while (!output.Over()) {
    pollfd entry{output.Fd(), output.Events(), 0};
    const bool reading = output.Events() == POLLIN;
    Poll({&entry, 1}, reading ? 0 : -1);
    if (reading && !entry.revents) return;
    output.Step();
  }
}

}  // namespace

Foreground::Foreground() {
  if (sys::OnTerminal()) pty_.emplace(STDIN_FILENO);
  signals_ = sys::CatchForegroundSignals();
}

void Foreground::Lend(sys::ProgramOptions* options) {
  options->standard_input = STDIN_FILENO;
  options->standard_output = STDOUT_FILENO;
  options->standard_error = STDERR_FILENO;
  if (!pty_) return;
  options->terminal = true;
  options->standard_input = options->standard_output = pty_->slave.get();
  if (isatty(STDERR_FILENO)) options->standard_error = pty_->slave.get();
  // The process that starts the program may itself have another kind of terminal, or none.
  for (const char* name : {"TERM", "COLORTERM"}) {
    if (const char* value = std::getenv(name)) options->environment[name] = value;
  }
}

int Foreground::Follow(int exit_status, const std::function<void(int)>& pass_on) {
  if (pty_) {
    pty_->slave.reset();
    if (const auto status = Connect(exit_status, pass_on)) return *status;
    // A program that has closed its terminal can still be interrupted.
  }
  return Wait(exit_status, pass_on);
}

int Foreground::Wait(int exit_status, const std::function<void(int)>& pass_on) {
  for (;;) {
    pollfd fds[] = {{signals_.get(), POLLIN, 0}, {exit_status, POLLIN, 0}};
    Poll(fds);
    if (fds[0].revents) PassOn(sys::TakeSignal(signals_.get()), pass_on);
    if (!fds[1].revents) continue;
    if (const auto status = TakeStatus(exit_status)) return *status;
  }
}

// Relays until the program ends or no process has its terminal open any more. Returns the status if
// it has ended.
std::optional<int> Foreground::Connect(int exit_status, const std::function<void(int)>& pass_on) {
  const sys::RawMode raw(STDIN_FILENO);
  sys::Relay input(STDIN_FILENO, pty_->Master()), output(pty_->Master(), STDOUT_FILENO);
  while (!output.Over()) {
    pollfd fds[] = {{signals_.get(), POLLIN, 0},
                    {exit_status, POLLIN, 0},
                    {input.Fd(), input.Events(), 0},
                    {output.Fd(), output.Events(), 0}};
    Poll(fds);
    if (fds[0].revents) {
      const int signal = sys::TakeSignal(signals_.get());
      if (signal == SIGWINCH) pty_->Resize();
      // When this process ends, the kernel closes the pty and sends SIGHUP to the processes on it.
      if (signal == SIGTERM || signal == SIGHUP) throw sys::Interrupted(signal);
      PassOn(signal, pass_on);
    }
    if (fds[2].revents) input.Step();
    if (fds[3].revents) output.Step();
    if (!fds[1].revents) continue;
    if (const auto status = TakeStatus(exit_status)) {
      Drain(output);
      return status;
    }
  }
  return std::nullopt;
}

}  // namespace viaduct::cli
