// Attaches a program that another process starts to this one, as if it ran here: it uses this
// process's standard input and output (through a pseudoterminal, if that is a terminal), gets its
// signals, and determines its exit status.
#pragma once

#include <functional>
#include <optional>

#include "base/fd.h"
#include "sys/terminal.h"
#include "sys/user_program.h"

namespace viaduct::cli {

class Foreground {
 public:
  // From here on signals are blocked until Follow() handles them.
  Foreground();

  // Sets standard input, output, error and terminal. This object keeps the descriptors.
  void Lend(sys::ProgramOptions* options);
  // Call it after the program has started; returns when it ends. Its wait status (waitpid(2)) is
  // then read from `exit_status` as one int32_t; end of file there is an Error. `pass_on` sends a
  // signal to the program. Returns the status as a shell reports it. Throws sys::Interrupted if
  // this process must end before the program (the terminal has hung up).
  int Follow(int exit_status, const std::function<void(int signal)>& pass_on);

 private:
  std::optional<int> Connect(int exit_status, const std::function<void(int)>& pass_on);
  int Wait(int exit_status, const std::function<void(int)>& pass_on);

  UniqueFd signals_;
  std::optional<sys::Pty> pty_;
};

}  // namespace viaduct::cli
