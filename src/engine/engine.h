// The poll loop that joins ports, pipelines and the wall clock.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/histogram.h"
#include "engine/config.h"
#include "io/port.h"
#include "path/packet/fate.h"
#include "path/packet/pipeline_name.h"

namespace viaduct::engine {

using path::Direction;

// A change of one pipeline while it runs.
struct Change {
  std::string pair;
  std::string class_name;  // empty: what no class matches
  Direction direction = Direction::kUp;
  path::Spec spec;
};

struct PipelineStatistics {
  std::string pair, class_name;
  Direction direction = Direction::kUp;
  path::Spec spec;
  path::Counters counters;
  uint64_t waiting = 0, waiting_bytes = 0;
};
struct PortStatistics {
  std::string name;
  io::PortCounters counters;
  uint64_t unmatched = 0;  // frames of no pair (another VLAN, another label), dropped
  bool up = true;          // false: the interface vanished or is down
};
struct Statistics {
  std::vector<PipelineStatistics> pipelines;
  std::vector<PortStatistics> ports;
  Histogram lateness;  // ns between a packet's due instant and its hand-over to the port
  int64_t memory_used = 0, memory_peak = 0;
  int64_t spilled_bytes = 0, spilled_peak = 0;
  // The last error of a disk: "DIRECTORY: No space left on device".
  std::string spill_trouble;
  uint64_t trace_lost = 0;  // fates that did not get into the trace file: disk too slow or full
};

class Engine {
 public:
  // Throws UsageError that says what is wrong, where, and what to do.
  Engine(Config config, std::vector<std::unique_ptr<io::AnyPort>> ports);
  ~Engine();
  // Starts the threads; they forward until Stop() or destruction.
  void Start();
  // Stops forwarding; what still waits is counted as such in the statistics.
  void Stop();
  // Any thread. Throws UsageError for an unknown pair or a SPEC that cannot be; then nothing
  // changed.
  void Apply(const Change& change);
  Statistics Read() const;  // any thread
  // Any thread. The interface of this port has come back under a new index (the old one was
  // deleted): forwards through the new port from now on; counters go on. The engine notices by
  // itself when an interface is only taken down and up.
  void ReplacePort(size_t port, std::unique_ptr<io::AnyPort> replacement);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace viaduct::engine
