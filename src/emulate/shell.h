// A program behind an emulated path: `viaduct shell`.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/client.h"
#include "emulate/shell_network.h"
#include "engine/engine.h"
#include "io/port.h"
#include "sys/guardian.h"

namespace viaduct::emulate {

// The two ends of a shell's path, for a config that says the rest: up is from the program to the
// outside.
engine::Config ShellPath(const path::Spec& up, const path::Spec& down);

// One program in a network of its own, whose only way out is the path. What it leaves behind and
// what was made for it are removed by a guardian, however this process ends. One thread; root,
// until Start() takes the invoking user's identity.
class Shell {
 public:
  // Makes the network. Throws EnvironmentError, SystemError; then nothing is left.
  explicit Shell(engine::Config config);

  // What Start() needs to run these words, the login shell if there are none.
  broker::ProgramOptions Program(const std::vector<std::string>& words) const;
  const ShellNetwork& network() const { return network_; }

  // Throws Error where the program cannot be started.
  void Start(const broker::ProgramOptions& program);
  // Yields one int32_t when the program ends, as waitpid(2) gives it.
  int exit_status() const { return guardian_->Connection(); }
  void Signal(int number);  // to the program's process group
  // What the path has done; it forwards no more.
  engine::Statistics Stop();

 private:
  engine::Config config_;
  ShellNetwork network_;
  std::vector<std::unique_ptr<io::AnyPort>> ports_;
  std::optional<sys::Guardian> guardian_;
  std::optional<engine::Engine> engine_;
};

}  // namespace viaduct::emulate
