// The poll loop that joins ports, pipelines and the wall clock.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/histogram.h"
#include "path/engine/config.h"
#include "path/packet/fate.h"
#include "path/packet/pipeline_name.h"
#include "path/trial.h"
#include "port/port.h"

namespace viaduct::engine {

using path::Direction;

// A change of one pipeline while it runs.
struct Change {
  std::string pair;
  std::string class_name;  // empty: packets that no class matches
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
  uint64_t too_long = 0;   // frames over Config::frame_bytes, dropped
  bool up = true;          // false: the interface vanished or is down
  std::string access;      // io::AnyPort::Description()
};
struct Statistics {
  std::vector<PipelineStatistics> pipelines;
  std::vector<PortStatistics> ports;
  Histogram lateness;  // ns between a packet's due instant and its hand-over to the port
  int64_t memory_used = 0, memory_peak = 0;
  int64_t spilled_bytes = 0, spilled_peak = 0;
  // The last error of a spill disk: "DIRECTORY: No space left on device".
  std::string spill_trouble;
  // The records that the trace and the log lack: TraceFile::Trouble().
  std::vector<std::string> trace_troubles;
};

// Tries changes before an engine runs.
class ChangeTrial {
 public:
  // `config` must outlive this object. Throws UsageError if an engine could not begin with its
  // SPECs.
  explicit ChangeTrial(const Config& config);
  // Throws UsageError, and changes nothing, where an engine that had made the changes so far could
  // not make this one: its pair, SPEC or files are wrong, it changes what cannot be changed while a
  // path runs, or it conflicts with the definition that another SPEC gives of a shared link.
  void Apply(const Change& change);

 private:
  const Config& config_;
  path::Trial trial_;
  // The pipelines' numbers, by pair, direction, and class (0: none).
  std::map<std::tuple<size_t, Direction, size_t>, size_t> pipelines_;
};

class Engine {
 public:
  // Throws UsageError if the configuration is wrong.
  Engine(Config config, std::vector<std::unique_ptr<io::AnyPort>> ports);
  ~Engine();
  // Starts the threads; they forward until Stop() or destruction.
  void Start();
  // Stops forwarding and ends the trace and the log; packets that still wait are counted as waiting
  // in the statistics.
  void Stop();
  // May be called by any thread. Throws UsageError for an unknown pair, an invalid SPEC or a file
  // that cannot be read. Changes nothing.
  void Check(const Change& change) const;
  // Makes a change that Check() accepts, by any thread. Throws UsageError where other directions
  // forbid it, and then changes nothing.
  void Apply(const Change& change);
  Statistics Read() const;  // any thread
  // May be called by any thread. For an interface that was deleted and created again with a new
  // index: forwards through the new port from now on; counters continue. The engine notices by
  // itself when an interface is only taken down and up.
  void ReplacePort(size_t port, std::unique_ptr<io::AnyPort> replacement);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace viaduct::engine
