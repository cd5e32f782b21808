#include "cli/foreground.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "base/wait_status.h"

namespace viaduct::cli {
namespace {

// Reads and returns the status of a program whose descriptor `exit_status` is readable; returns
// nothing if no status has been written yet.
std::optional<int> TakeStatus(int exit_status) {
  int32_t status = 0;
  const ssize_t got = read(exit_status, &status, sizeof status);
  if (got == sizeof status) return ShellStatus(status);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return std::nullopt;
  throw Error("the lab was removed, which ended the program");
}

// Relays the output that an ended program has left in the pty. Does not wait until the pty is
// closed, because a child of the program may keep it open.
void Drain(sys::Relay& output) {
  while (!output.Over()) {
    pollfd entry{output.fd(), output.Events(), 0};
    const bool reading = output.Events() == POLLIN;
    const int ready = poll(&entry, 1, reading ? 0 : -1);
    if (ready < 0 && errno != EINTR) throw SystemError("poll", errno);
    if (ready == 0) return;
    if (ready > 0) output.Step();
  }
}

}  // namespace

Foreground::Foreground()
    : pty_(sys::OnTerminal() ? std::make_unique<sys::Pty>(STDIN_FILENO) : nullptr),
      loop_(sys::CatchForegroundSignals(), [this](int signal) { Handle(signal); }) {}

void Foreground::Lend(sys::ProgramOptions* options) {
  options->standard_input = STDIN_FILENO;
  options->standard_output = STDOUT_FILENO;
  options->standard_error = STDERR_FILENO;
  if (!pty_) return;
  options->terminal = true;
  options->standard_input = options->standard_output = pty_->slave.get();
  if (isatty(STDERR_FILENO)) options->standard_error = pty_->slave.get();
  // Passes the variables of this terminal on: the process that starts the program may have a
  // different kind of terminal, or no terminal.
  for (const char* name : {"TERM", "COLORTERM"}) {
    if (const char* value = std::getenv(name)) options->environment[name] = value;
  }
}

int Foreground::Follow(int exit_status, std::function<void(int)> pass_on) {
  std::optional<int> status;
  const auto has_ended = [&] { return status.has_value(); };
  pass_on_ = std::move(pass_on);
  loop_.Watch(exit_status, [&] { status = TakeStatus(exit_status); });
  if (pty_) {
    pty_->slave.reset();
    Connect(has_ended);
    // Continues after the terminal was closed: the program can still be interrupted.
  }
  loop_.Run(has_ended);
  loop_.Forget(exit_status);
  pass_on_ = nullptr;
  return *status;
}

void Foreground::Handle(int signal) {
  if (signal == SIGWINCH) {
    if (is_connected_) pty_->Resize();
    return;
  }
  // A signal may end this process: the kernel then closes the pty and sends SIGHUP to the processes
  // on it.
  const bool ends_us = is_connected_ && (signal == SIGTERM || signal == SIGHUP);
  if (ends_us || !pass_on_) throw sys::Interrupted(signal);
  pass_on_(signal);
}

// Relays input and output until the program ends or until no process has the program's terminal
// open.
void Foreground::Connect(const std::function<bool()>& has_ended) {
  const sys::RawMode raw(STDIN_FILENO);
  // Duplicates the descriptor, because a loop can have only one watcher for each descriptor.
  const UniqueFd keyboard(
      SystemCall("fcntl F_DUPFD_CLOEXEC", fcntl(pty_->Master(), F_DUPFD_CLOEXEC, 0)));
  sys::Relay input(STDIN_FILENO, keyboard.get()), output(pty_->Master(), STDOUT_FILENO);
  is_connected_ = true;
  Relay(input);
  Relay(output);
  loop_.Run([&] { return output.Over() || has_ended(); });
  is_connected_ = false;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, keyboard.get(), pty_->Master()}) {
    loop_.Forget(fd);
  }
  Drain(output);
}

void Foreground::Relay(sys::Relay& relay) {
  if (relay.Over()) return;
  const int fd = relay.fd();
  const auto step = [this, &relay, fd] {
    loop_.Forget(fd);
    relay.Step();
    Relay(relay);
  };
  loop_.Watch(fd, step, relay.Events());
}

}  // namespace viaduct::cli
