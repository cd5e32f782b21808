// A program behind an emulated path: `viaduct shell`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "broker/call.h"
#include "broker/client.h"
#include "emulate/shell_network.h"
#include "engine/engine.h"
#include "io/port.h"

namespace viaduct::emulate {

// The ports and the pair of a shell's path; the caller completes the config. Up is from the program
// to the outside.
engine::Config ShellPath(const path::Spec& up, const path::Spec& down);

// One program in a network of its own, whose only way out is the path. Root's half
// (emulate/shell_keeper.h) creates it and starts the program; it removes all of that, with the
// processes that the program leaves behind, however this process ends. There must be a steward
// (privilege/halves.h).
class Shell {
 public:
  // Creates the network. Throws EnvironmentError or SystemError, and then leaves nothing behind.
  explicit Shell(engine::Config config);

  // The options for Start() that run these words, or the login shell if there are none.
  broker::ProgramOptions Program(const std::vector<std::string>& words) const;
  const std::string& host_address() const { return host_address_; }
  // Why the program can reach nothing beyond this namespace; empty if it can.
  const std::string& limits() const { return limits_; }

  // Throws Error if the program cannot be started.
  void Start(const broker::ProgramOptions& program);
  // A descriptor from which the program's wait status (waitpid(2)) can be read, as one int32_t,
  // when it ends.
  int exit_status() const { return exit_status_.get(); }
  void Signal(int number);  // to the program's process group
  // Stops the path and returns its statistics.
  engine::Statistics Stop();

 private:
  broker::Caller root_;
  std::string host_address_, limits_;
  std::optional<engine::Engine> engine_;
  UniqueFd exit_status_;
};

}  // namespace viaduct::emulate
