// The path engine of a lab: a process of its own between the host ends of the lab's emulated links.
#pragma once

#include <optional>
#include <string>

#include "lab/builder.h"
#include "sys/invoking_user.h"

namespace viaduct::broker {

// Where the engine of a lab takes changes and tells its statistics (engine/control.h).
std::string EngineSocketPath(const std::string& lab);

// Forked from the broker with its packet sockets and nothing else of the broker's; lives in the hub
// namespace (whoever cleans up after the lab finds it there), as the invoking user at the highest
// priority, and dies with the broker. One thread of the broker's owns this.
class LabEngine {
 public:
  // Returns when the engine forwards. Throws Error with the engine's own message (a SPEC's file
  // that cannot be read, not enough memory).
  LabEngine(lab::Lab& lab, const sys::Identity& owner);

  int pid() const { return pid_; }
  // What waitpid(2) said of it; it runs as long as this is empty.
  std::optional<int> ended;

 private:
  int pid_ = 0;
};

}  // namespace viaduct::broker
