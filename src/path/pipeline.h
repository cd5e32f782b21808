// One direction of an emulated path: loss, bit errors, duplication, rate and queue, delay, reorder,
// each optional, in this order. No I/O, no clock, seeded: the same packets at the same instants
// meet the same fates under the wall clock, ns-3's clock and a test's.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "path/packet/fate.h"
#include "path/packet/packet.h"
#include "path/spec/spec.h"

namespace viaduct::path {

// A packet that has reached the far end.
struct Departure {
  FrameHandle frame = 0;  // the caller's from here on
  uint32_t bytes = 0;
  uint64_t number = 0;
  Instant due;  // the exact instant the model says; the caller is late by now - due
};

struct PipelineOptions {
  uint64_t seed = 1;
  std::string name;  // with the seed, names this pipeline's random streams
  // Makes each Fifo the pipeline needs; in memory when absent.
  std::function<std::unique_ptr<Fifo>()> make_fifo;
  // Reads a file a SPEC names (trace, .dist): its whole text; throws UsageError.
  std::function<std::string(const std::string& path)> read_file;
};

class Pipeline {
 public:
  // The store must outlive the pipeline. Throws UsageError where the SPEC's files are wrong.
  Pipeline(const Spec& spec, FrameStore& store, PipelineOptions options);
  ~Pipeline();
  Pipeline(Pipeline&&) noexcept;
  Pipeline& operator=(Pipeline&&) noexcept;

  // Takes the frame at its arrival instant. `now` never goes back between calls of Push, Pop and
  // Change; internal events before `now` happen first, at their own instants.
  void Push(FrameHandle frame, uint32_t bytes, Instant now);
  // Counts (and shows the observer) a packet that arrived but has no frame, because there was no
  // memory to take it in: it arrived and met `cause`, and passes no stage.
  void Refuse(uint32_t bytes, Fate cause, Instant now);
  // When Pop would next have something to do; Never when nothing waits.
  Instant NextEvent() const;
  // Moves what is due at `now` to `out`, earliest first; returns how many. Call again when full.
  size_t Pop(Instant now, std::span<Departure> out);
  // The next packet waits for a Fifo's disk: call Pop again when the disk has answered.
  bool Stalled() const;

  // From `now` on the path is this one. What is in flight stays: it keeps its delivery instant,
  // what waits in the queue leaves at the new rate. Throws UsageError and changes nothing if the
  // SPEC's files are wrong.
  void Change(const Spec& spec, Instant now);

  const Spec& spec() const;
  const Counters& counters() const;
  uint64_t waiting() const;  // packets inside
  uint64_t waiting_bytes() const;
  void SetObserver(FateObserver* observer);  // not owned; nullptr: none

 private:
  class Stages;
  std::unique_ptr<Stages> stages_;
};

}  // namespace viaduct::path
