// A program started by another process, as if it ran here: this process's standard input and output
// (through a terminal of its own, if that is one), its signals, its exit status.
#pragma once

#include <functional>
#include <optional>

#include "base/fd.h"
#include "broker/client.h"
#include "sys/terminal.h"

namespace viaduct::cli {

class Foreground {
 public:
  // From here on signals wait for Follow().
  Foreground();

  // Sets standard input, output, error and terminal. This object keeps the descriptors.
  void Lend(broker::ProgramOptions* options);
  // To be called after the program has started; returns when it ends. `exit_status` becomes
  // readable then and yields one int32_t as waitpid(2) gives it; its end of file is an Error.
  // `pass_on` signals the program. Returns the status as a shell reports it. Throws
  // sys::Interrupted where this process must end before the program (the terminal has hung up).
  int Follow(int exit_status, const std::function<void(int signal)>& pass_on);

 private:
  std::optional<int> Connect(int exit_status, const std::function<void(int)>& pass_on);
  int Wait(int exit_status, const std::function<void(int)>& pass_on);

  UniqueFd signals_;
  std::optional<sys::Pty> pty_;
};

}  // namespace viaduct::cli
