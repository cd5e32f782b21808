// A program behind an emulated path: `viaduct shell`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulate/shell_network.h"
#include "engine/engine.h"
#include "io/port.h"
#include "sys/guardian.h"
#include "sys/user_program.h"

namespace viaduct::emulate {

// The ports and the pair of a shell's path; the caller completes the config. Up is from the program
// to the outside.
engine::Config ShellPath(const path::Spec& up, const path::Spec& down);

// One program in a network of its own, whose only way out is the path. A guardian removes what was
// created for it and the processes it leaves behind, however this process ends. For a
// single-threaded process that is root until Start() changes to the invoking user's identity.
class Shell {
 public:
  // Creates the network. Throws EnvironmentError or SystemError, and then leaves nothing behind.
  explicit Shell(engine::Config config);

  // The options for Start() that run these words, or the login shell if there are none.
  sys::ProgramOptions Program(const std::vector<std::string>& words) const;
  const ShellNetwork& network() const { return network_; }

  // Throws Error if the program cannot be started.
  void Start(const sys::ProgramOptions& program);
  // A descriptor from which the program's wait status (waitpid(2)) can be read, as one int32_t,
  // when it ends.
  int exit_status() const { return guardian_->Connection(); }
  void Signal(int number);  // to the program's process group
  // Stops the path and returns its statistics.
  engine::Statistics Stop();

 private:
  engine::Config config_;
  ShellNetwork network_;
  std::vector<std::unique_ptr<io::AnyPort>> ports_;
  std::optional<sys::Guardian> guardian_;
  std::optional<engine::Engine> engine_;
};

}  // namespace viaduct::emulate
