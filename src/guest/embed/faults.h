// The signals of this process that its guests need: the faults of a guest's kernel, and the signal
// that makes a guest that does not return leave its processor.
#pragma once

#include <array>
#include <csignal>
#include <cstdint>

#include "guest/embed/context.h"

namespace viaduct::embed {

// Handlers of the fault signals. While an object exists, a fault of a guest's kernel calls the
// kernel's handler (vmalloc() mappings appear by faults); a fault of the simulator has the same
// effect as without the object.
class Faults {
 public:
  static constexpr std::array kSignals{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};

  Faults();
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;
  ~Faults();
};

// The signal that MakeLeave() sends; on Linux, nothing else sends this signal.
inline constexpr int kLeave = SIGSTKFLT;

// Makes `thread` leave the guest of `context` for ever, if the guest has run without interruption
// since it was let run for the `switches`th time. Must be called from another thread.
void MakeLeave(Context& context, pid_t thread, uint64_t switches);

}  // namespace viaduct::embed
