// Reports the forwarding program in which a forwarder's process was killed, and ends the process if
// a program does not return: a forwarder that hangs would lose all frames without any message. For
// a process that runs users' programs.
#pragma once

#include "base/time.h"

namespace viaduct::forward {

class ProgramWatch {
 public:
  // Longer than any stall of a machine that still forwards.
  static constexpr auto kTimeout = Duration::Seconds(5);

  // Makes signals that end the process write a line to this descriptor first. Throws SystemError.
  static void Start(int words);
  // Ends the process (SIGALRM), from the first call on, unless it is called again within kTimeout.
  // No effect before Start().
  static void Rearm();
  // Names the work of the calling thread: "node n0, forwarding program libmine.so". The text must
  // stay valid until the next call; null: no program runs.
  static void Name(const char* whose);
};

}  // namespace viaduct::forward
