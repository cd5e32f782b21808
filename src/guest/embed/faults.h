// Signals of this process that are the guests': faults of its kernel, and the one that takes a
// guest that does not come back away from its processor.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>

#include "guest/embed/context.h"

namespace viaduct::embed {

// While it exists, a fault of a guest's kernel calls the kernel's handler (a fault is how its
// vmalloc() mappings appear); one of the simulator does what it did before.
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
// `switches`th time. From any other thread.
void MakeLeave(Context& context, pid_t thread, uint64_t switches);

}  // namespace viaduct::embed
