// The statistics of a path engine, which emulates a path, a shell's path, or the links of a lab.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result/environment.h"
#include "base/result/timing.h"

namespace viaduct::result {

// The statistics of a pipeline: one direction of a pair of interfaces, for one class of packets.
struct PipelineResult {
  std::string pair, class_name, direction, spec;
  uint64_t arrived = 0, arrived_bytes = 0, delivered_bytes = 0;  // arrived: packets; *_bytes: bytes
  // The number of packets that met each path::Fate; key: the fate's name.
  std::map<std::string, uint64_t> fates;
  uint64_t duplicated = 0, corrupted = 0, flipped_bits = 0, marked = 0, reordered = 0;
  uint64_t waiting = 0, waiting_bytes = 0;

  static fields::KeysOf<PipelineResult> Keys();
};

// The counters of a port (io::PortCounters).
struct FrameCounters {
  uint64_t rx_frames = 0, rx_bytes = 0, tx_frames = 0, tx_bytes = 0;
  uint64_t rx_dropped_ring_full = 0, rx_dropped_truncated = 0, tx_dropped_error = 0;

  static fields::KeysOf<FrameCounters> Keys();
};

struct PortResult {
  std::string name;
  bool up = true;
  FrameCounters frames;
  uint64_t unmatched = 0, too_long = 0;
  std::string access;  // io::AnyPort::Description()

  static fields::KeysOf<PortResult> Keys();
};

struct MemoryResult {
  int64_t used = 0, peak = 0, spilled = 0, spilled_peak = 0;  // bytes of frames
  std::string spill_trouble;

  static fields::KeysOf<MemoryResult> Keys();
};

// The draining of a shell's path after the end of the shell's program.
struct DrainResult {
  double seconds = 0;
  uint64_t packets = 0, connections = 0;

  static fields::KeysOf<DrainResult> Keys();
};

struct EngineResult {
  std::string name, started;
  std::optional<uint64_t> seed;
  std::optional<double> seconds;
  std::vector<PipelineResult> pipelines;
  std::vector<PortResult> ports;
  MemoryResult memory;
  Timing timing;
  Verdict verdict = Verdict::kNotJudged;
  std::optional<DrainResult> drain;
  std::vector<std::string> failures;
  std::optional<Environment> environment;

  static fields::KeysOf<EngineResult> Keys();
};

}  // namespace viaduct::result
