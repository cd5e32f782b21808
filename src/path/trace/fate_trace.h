// Every packet's fate as text: JSON lines, a pcapng file with the packets and a comment for each
// packet, or a link's log. The text is passed to a callback; these functions write no file.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "path/packet/fate.h"

namespace viaduct::path {

// The formats of a trace. A link's log has lines like Mahimahi's (mm-link --uplink-log), each with
// the pipeline's name at its end; times are milliseconds since the path's start, delays
// milliseconds since the packet's arrival:
//   TIME + BYTES NAME              a packet arrives
//   TIME - BYTES DELAY NAME        a packet leaves the path (also a copy, which has not arrived)
//   TIME d 1 BYTES CAUSE NAME      a packet is dropped or lost
enum class TraceFormat { kJsonLines, kPcapng, kLinkLog };

// Returns the header of a trace. `pipelines`: the pipelines' names; a pcapng file has an interface
// for each pipeline.
std::string TraceHeader(TraceFormat format, const std::vector<std::string>& pipelines);

// Returns one line of JSON, with its newline:
// {"at":NS,"pipeline":"NAME","number":1,"bytes":1514,"arrived":NS,"fate":"delivered"}, and, where
// they apply, "duplicate":true, "corrupted":true, "marked":true. NS: the model's instants in
// nanoseconds.
std::string FateJson(std::string_view pipeline, const Packet& packet, Fate fate, Instant at);
// Returns the comment of a packet in a pcapng file: "delivered, packet 1 of NAME, arrived
// 0.001000000 s earlier, corrupted".
std::string FateComment(std::string_view pipeline, const Packet& packet, Fate fate, Instant at);

// Returns the lines of a link's log for an arrival and for a fate; `start`: the path's start.
std::string ArrivalLog(std::string_view pipeline, const Packet& packet, Instant start);
std::string FateLog(std::string_view pipeline, const Packet& packet, Fate fate, Instant at,
                    Instant start);

// Observes one pipeline, whose fates are in the order of time.
class FateTrace final : public FateObserver {
 public:
  using Write = std::function<void(std::string_view)>;
  // `index`: the position of `pipeline` in the list that TraceHeader() receives. The store must
  // outlive the trace. `to_real_time`: added to the model's instants to get times since 1970, for
  // pcapng.
  FateTrace(TraceFormat format, std::string pipeline, uint32_t index, FrameStore& store,
            Duration to_real_time, Write write);
  // Sets the instant of the path's start.
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

// Passes the events of one pipeline to several traces.
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
