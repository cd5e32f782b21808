// Every packet's fate as text: JSON lines, a pcapng file with the packets and a comment for each,
// or a link's log. The text is passed to a callback; no file is written here.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "path/packet/fate.h"

namespace viaduct::path {

// A link's log has lines like Mahimahi's (mm-link --uplink-log), each with the pipeline's name at
// its end; times are milliseconds since the path's start, delays milliseconds since the arrival:
//   TIME + BYTES NAME              a packet arrives
//   TIME - BYTES DELAY NAME        it leaves the path (also a copy, which has not arrived)
//   TIME d 1 BYTES CAUSE NAME      it is dropped or lost
enum class TraceFormat { kJsonLines, kPcapng, kLinkLog };

// The header of a trace. `pipelines`: their names; a pcapng file has an interface for each.
std::string TraceHeader(TraceFormat format, const std::vector<std::string>& pipelines);

// One line, with its newline:
// {"at":NS,"pipeline":"NAME","number":1,"bytes":1514,"arrived":NS,"fate":"delivered"}, and, where
// they apply, "duplicate":true, "corrupted":true, "marked":true. NS: the model's instants in
// nanoseconds.
std::string FateJson(std::string_view pipeline, const Packet& packet, Fate fate, Instant at);
// "delivered, packet 1 of NAME, arrived 0.001000000 s before, corrupted".
std::string FateComment(std::string_view pipeline, const Packet& packet, Fate fate, Instant at);

// The lines of a link's log; `start`: of the path.
std::string ArrivalLog(std::string_view pipeline, const Packet& packet, Instant start);
std::string FateLog(std::string_view pipeline, const Packet& packet, Fate fate, Instant at,
                    Instant start);

// Observes one pipeline; fates are in the order of time within it.
class FateTrace final : public FateObserver {
 public:
  using Write = std::function<void(std::string_view)>;
  // `index`: the position of `pipeline` in TraceHeader's list. The store must outlive the trace.
  // `to_real_time`: added to the model's instants to get times since 1970, for pcapng.
  FateTrace(TraceFormat format, std::string pipeline, uint32_t index, FrameStore& store,
            Duration to_real_time, Write write);
  // The path's start.
  void Begin(Instant now) { start_ = now; }
  void OnArrival(const Packet& packet) override;
  void OnFate(const Packet& packet, Fate fate, Instant at) override;

 private:
  TraceFormat format_;
  std::string pipeline_;
  uint32_t index_;
  FrameStore& store_;
  Duration to_real_time_;
  Instant start_;
  Write write_;
};

// Several traces of one pipeline.
class FateTraces final : public FateObserver {
 public:
  void Add(FateTrace trace) { traces_.push_back(std::move(trace)); }
  bool Empty() const { return traces_.empty(); }
  void Begin(Instant now) {
    for (FateTrace& trace : traces_) trace.Begin(now);
  }
  void OnArrival(const Packet& packet) override {
    for (FateTrace& trace : traces_) trace.OnArrival(packet);
  }
  void OnFate(const Packet& packet, Fate fate, Instant at) override {
    for (FateTrace& trace : traces_) trace.OnFate(packet, fate, at);
  }

 private:
  std::vector<FateTrace> traces_;
};

}  // namespace viaduct::path
