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
  uint64_t unmatched = 0;  // frames that belong to no pair (another VLAN, another label), dropped
  uint64_t too_long = 0;   // frames over Config::frame_bytes, dropped
  bool up = true;          // false: the interface vanished or is down
  std::string access;      // result of io::AnyPort::Description()
};
struct Statistics {
  std::vector<PipelineStatistics> pipelines;
  std::vector<PortStatistics> ports;
  Histogram lateness;  // ns between a packet's due instant and its hand-over to the port
  int64_t memory_used = 0, memory_peak = 0;
  int64_t spilled_bytes = 0, spilled_peak = 0;
  // The last error of a spill disk: "DIRECTORY: No space left on device".
  std::string spill_trouble;
  // The messages of TraceFile::Trouble(), about records that the trace or the log lacks.
  std::vector<std::string> trace_troubles;
};

// Checks changes before an engine runs.
class ChangeTrial {
 public:
  // `config` must outlive this object. Throws UsageError if an engine could not begin with the
  // SPECs of `config`.
  explicit ChangeTrial(const Config& config);
  // Adds a change to the trial. Throws UsageError, and changes nothing, if an engine that had made
  // all changes so far could not make this change: the pair, SPEC or files are wrong, a key cannot
  // be changed while a path runs, or the change conflicts with the definition of a shared link in
  // another SPEC.
  void Apply(const Change& change);

 private:
  const Config& config_;
  path::Trial trial_;
  // The numbers of the pipelines in trial_, by pair, direction, and class (0: none).
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
  // Checks a change without making it; may be called by any thread. Throws UsageError for an
  // unknown pair, an invalid SPEC or a file that cannot be read.
  void Check(const Change& change) const;
  // Makes a change that Check() accepts; may be called by any thread. Throws UsageError, and
  // changes nothing, if the state of other directions forbids the change.
  void Apply(const Change& change);
  Statistics Read() const;  // may be called by any thread
  // Replaces a port whose interface was deleted and created again with a new index: forwards
  // through `replacement` from now on; the port's counters continue. May be called by any thread.
  // The engine itself notices an interface that is only taken down and up.
  void ReplacePort(size_t port, std::unique_ptr<io::AnyPort> replacement);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace viaduct::engine
