// Attaches a program that another process starts to this process, as if this process had started
// it: the program uses this process's standard input and output (through a pseudoterminal, if that
// is a terminal), receives this process's signals, and determines its exit status.
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
  // Blocks signals until the loop runs.
  Foreground();
  Foreground(const Foreground&) = delete;
  Foreground& operator=(const Foreground&) = delete;

  // Sets standard input, output, error and terminal in the options. This object keeps owning the
  // descriptors.
  void Lend(sys::ProgramOptions* options);
  // Relays until the program ends; must be called after the program has started. Reads the
  // program's wait status (waitpid(2)) from `exit_status` as one int32_t; throws Error at the end
  // of file on that descriptor. `pass_on` sends a signal to the program. Returns the status as a
  // shell reports it. Throws sys::Interrupted if this process must end before the program (the
  // terminal has hung up).
  int Follow(int exit_status, std::function<void(int signal)> pass_on);
  // Returns the loop that Follow() runs, so that the caller can watch other descriptors while
  // Follow() runs. If the loop is run before or after Follow(), a signal makes it throw
  // sys::Interrupted.
  sys::EventLoop& loop() { return loop_; }

 private:
  void Handle(int signal);
  void Connect(const std::function<bool()>& has_ended);
  void Relay(sys::Relay& relay);  // until one end has closed

  std::unique_ptr<sys::Pty> pty_;  // null: standard input is not a terminal
  std::function<void(int)> pass_on_;
  bool is_connected_ = false;  // whether the user's terminal is connected to the pty
  sys::EventLoop loop_;
};

// Calls `start`, which asks another process to start the program. If the program cannot be
// executed, throws an error with the exit status of a shell: 127 if there is no such program, else
// 126.
template <class Start>
auto StartAsShell(const Start& start) {
  try {
    return start();
  } catch (const sys::ExecuteError& error) {
    throw Error(error.what(), static_cast<ExitStatus>(error.shell_status()));
  }
}

}  // namespace viaduct::cli
