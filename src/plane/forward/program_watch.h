// A watch on forwarding programs: if the forwarder's process is killed by a signal, reports the
// program that was running; and ends the process if a program does not return, as a forwarder that
// hangs would lose all frames without any message. For a process that runs users' programs.
#pragma once

#include "base/time.h"

namespace viaduct::forward {

class ProgramWatch {
 public:
  // The maximum duration of a program's run: longer than any pause of a machine that still
  // forwards.
  static constexpr auto kTimeout = Duration::Seconds(5);

  // Installs signal handlers that write a line to this descriptor before a signal ends the process.
  // Throws SystemError.
  static void Start(int words);
  // Restarts the timeout: after a call the process ends (SIGALRM) unless Rearm() is called again
  // within kTimeout. If Start() has not been called, does nothing.
  static void Rearm();
  // Sets the description of the calling thread's work for reports: "node n0, forwarding program
  // libmine.so". The text must stay valid until the next call; null: no program runs.
  static void Name(const char* whose);
};

}  // namespace viaduct::forward
