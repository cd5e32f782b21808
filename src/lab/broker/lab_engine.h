// The path engine of a lab: a separate process that forwards frames between the interfaces by which
// emulated links end in the fabric.
#pragma once

#include <optional>
#include <string>

#include "base/fd.h"
#include "lab/builder.h"
#include "sys/process/invoking_user.h"

namespace viaduct::broker {

// Returns the path of the control socket of a lab's engine (path/engine/control.h).
std::string EngineSocketPath(const std::string& lab);

// Runs the engine in a process that is forked from the broker and inherits the packet sockets and
// no other descriptors. The engine runs in the fabric (where the clean-up of the lab finds it), as
// the invoking user at the highest priority, and ends with the broker. For use by one thread.
class LabEngine {
 public:
  // Returns when the engine has started to forward. Throws Error with the engine's own message (a
  // SPEC's file that cannot be read, not enough memory), or if the client closes `asker`
  // (LabProcess::asker). `inner_socket`: see Client::LendInnerSocket(); may be empty.
  LabEngine(lab::Lab& lab, const sys::Identity& owner, UniqueFd inner_socket, int asker);

  int pid() const { return pid_; }
  // The engine's wait status (waitpid(2)); empty while it runs.
  std::optional<int> ended;

 private:
  int pid_ = 0;
};

}  // namespace viaduct::broker
