#include "path/shell/shell_drain.h"

#include <algorithm>

#include "base/clock.h"

namespace viaduct::emulate {
namespace {

// A frame between two ports of the kernel is neither in the path nor in a socket, but within this
// it is in the path.
constexpr Duration kInterval = Duration::Milliseconds(20);

// The traffic that was under way at one instant.
struct Look {
  uint64_t arrived = 0, packets = 0, connections = 0;

  bool IsQuiet() const { return packets == 0 && connections == 0; }
};

Look LookAt(const PathEmulation& path, Shell& shell) {
  Look look;
  look.connections = shell.CountUnsent();
  for (const engine::PipelineStatistics& pipeline : path.Read().pipelines) {
    look.arrived += pipeline.counters.arrived;
    look.packets += pipeline.waiting;
  }
  return look;
}

// Returns the last look.
Look AwaitQuiet(const PathEmulation& path, Shell& shell, sys::EventLoop& loop, Instant deadline) {
  Look look = LookAt(path, shell);
  try {
    for (Instant now = MonotonicClock::Now(); now < deadline; now = MonotonicClock::Now()) {
      const Look before = look;
      loop.Run([] { return false; }, std::min(deadline, now + kInterval));
      look = LookAt(path, shell);
      if (before.IsQuiet() && look.IsQuiet() && before.arrived == look.arrived) break;
    }
  } catch (const sys::Interrupted&) {
    // A signal ends the wait.
  }
  return look;
}

}  // namespace

result::DrainResult Drain(const PathEmulation& path, Shell& shell, sys::EventLoop& loop,
                          Duration limit) {
  const Instant start = MonotonicClock::Now();
  if (limit > Duration()) shell.EndProgram();
  const Look rest = AwaitQuiet(path, shell, loop, start + limit);
  return {(MonotonicClock::Now() - start).ToSeconds(), rest.packets, rest.connections};
}

}  // namespace viaduct::emulate
