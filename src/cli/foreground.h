// Attaches a program that another process starts to this one, as if it ran here: it uses this
// process's standard input and output (through a pseudoterminal, if that is a terminal), gets its
// signals, and determines its exit status.
#pragma once

#include <functional>
#include <memory>

#include "base/error.h"
#include "base/fd.h"
#include "sys/event_loop.h"
#include "sys/process/user_program.h"
#include "sys/terminal.h"

namespace viaduct::cli {

class Foreground {
 public:
  // From here on signals are blocked until the loop runs.
  Foreground();
  Foreground(const Foreground&) = delete;
  Foreground& operator=(const Foreground&) = delete;

  // Sets standard input, output, error and terminal. This object keeps the descriptors.
  void Lend(sys::ProgramOptions* options);
  // Call it after the program has started; returns when it ends. Its wait status (waitpid(2)) is
  // then read from `exit_status` as one int32_t; end of file there is an Error. `pass_on` sends a
  // signal to the program. Returns the status as a shell reports it. Throws sys::Interrupted if
  // this process must end before the program (the terminal has hung up).
  int Follow(int exit_status, std::function<void(int signal)> pass_on);
  // Follow() runs it, so that other things can be served meanwhile. Run before or after that it
  // throws sys::Interrupted for a signal.
  sys::EventLoop& loop() { return loop_; }

 private:
  void Handle(int signal);
  void Connect(const std::function<bool()>& has_ended);
  void Relay(sys::Relay& relay);  // until there is nothing more to relay

  std::unique_ptr<sys::Pty> pty_;  // null: there is no terminal
  std::function<void(int)> pass_on_;
  bool is_connected_ = false;  // the user's terminal with the pty
  sys::EventLoop loop_;
};

// Calls `start`, which has the foreground's program started. Where that cannot be executed, the
// error gives the command the exit status of a shell: 127 if there is no such program, else 126.
template <class Start>
auto StartAsShell(const Start& start) {
  try {
    return start();
  } catch (const sys::ExecuteError& error) {
    throw Error(error.what(), static_cast<ExitStatus>(error.shell_status()));
  }
}

}  // namespace viaduct::cli
