// Tells in which forwarding program a forwarder's process died, and ends it if one does not return:
// a forwarder that hangs would lose everything, and nobody would know. For a process that runs
// users' programs.
#pragma once

#include "base/time.h"

namespace viaduct::forward {

class ProgramWatch {
 public:
  // Longer than any stall of a machine that still forwards.
  static constexpr auto kTimeout = Duration::Seconds(5);

  // From now on signals that end the process write a line to this descriptor before. Throws
  // SystemError.
  static void Start(int words);
  // From the first call on the process ends (SIGALRM) unless this is called again within kTimeout.
  // No effect before Start().
  static void Rearm();
  // What the calling thread does now: "node n0, forwarding program libmine.so", which must stay
  // valid until another is named; null: nothing that a program could have done.
  static void Name(const char* whose);
};

}  // namespace viaduct::forward
