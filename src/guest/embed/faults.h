// Signals of this process for its guests: faults of a guest's kernel, and the signal that makes a
// guest that does not return leave its processor.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>

#include "guest/embed/context.h"

namespace viaduct::embed {

// While it exists, a fault of a guest's kernel calls the kernel's handler (vmalloc() mappings
// appear by faults); a fault of the simulator has the same effect as before.
class Faults {
 public:
  static constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};

  Faults();
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;
  ~Faults();
};

// The signal that MakeLeave() sends; nothing else sends it on Linux.
inline constexpr int kLeave = SIGSTKFLT;

// Makes a thread leave this guest for good if it has been in it since it was let run for the
// `switches`th time. For use from any other thread.
void MakeLeave(Context& context, pid_t thread, uint64_t switches);

}  // namespace viaduct::embed
