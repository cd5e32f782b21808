#include "path/shell/shell_drain.h"

#include <algorithm>

#include "base/clock.h"

namespace viaduct::path {
namespace {

// The interval between two observations. A frame between two ports of the kernel is neither in the
// path nor in a socket, but is in the path after this interval.
constexpr Duration kInterval = Duration::Milliseconds(20);

// The traffic that was in flight at one instant.
struct Observation {
  uint64_t arrived = 0, packets = 0, connections = 0;

  bool IsQuiet() const { return packets == 0 && connections == 0; }
};

Observation Observe(const PathEmulation& path, Shell& shell) {
  Observation last;
  last.connections = shell.CountUnsent();
  for (const engine::PipelineStatistics& pipeline : path.Read().pipelines) {
    last.arrived += pipeline.counters.arrived;
    last.packets += pipeline.waiting;
  }
  return last;
}

// Waits until no traffic is in flight, or until the deadline or a signal. Returns the last
// observation.
Observation AwaitQuiet(const PathEmulation& path, Shell& shell, sys::EventLoop& loop,
                       Instant deadline) {
  Observation last = Observe(path, shell);
  try {
    for (Instant now = MonotonicClock::Now(); now < deadline; now = MonotonicClock::Now()) {
      const Observation before = last;
      loop.Run([] { return false; }, std::min(deadline, now + kInterval));
      last = Observe(path, shell);
      if (before.IsQuiet() && last.IsQuiet() && before.arrived == last.arrived) break;
    }
  } catch (const sys::Interrupted&) {
    // A signal ends the wait.
  }
  return last;
}

}  // namespace

result::DrainResult Drain(const PathEmulation& path, Shell& shell, sys::EventLoop& loop,
                          Duration limit) {
  const Instant start = MonotonicClock::Now();
  if (limit > Duration()) shell.EndProgram();
  const Observation rest = AwaitQuiet(path, shell, loop, start + limit);
  return {(MonotonicClock::Now() - start).ToSeconds(), rest.packets, rest.connections};
}

}  // namespace viaduct::path
