// Every packet's fate as text: JSON lines, or a pcapng file with the packets and a comment each.
// The text goes to whoever writes files.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "path/packet/fate.h"

namespace viaduct::path {

enum class TraceFormat { kJsonLines, kPcapng };

// What a trace begins with. `pipelines`: their names; a pcapng file has an interface for each.
std::string TraceHeader(TraceFormat format, const std::vector<std::string>& pipelines);

// One line, with its end:
// {"at":NS,"pipeline":"NAME","number":1,"bytes":1514,"arrived":NS,"fate":"delivered"}, and where it
// is so "duplicate":true, "corrupted":true, "marked":true. NS: the model's instants in nanoseconds.
std::string FateJson(std::string_view pipeline, const Packet& packet, Fate fate, Instant at);
// "delivered, packet 1 of NAME, arrived 0.001000000 s before, corrupted".
std::string FateComment(std::string_view pipeline, const Packet& packet, Fate fate, Instant at);

// Observes one pipeline. In the order of time within it.
class FateTrace final : public FateObserver {
 public:
  using Write = std::function<void(std::string_view)>;
  // `index`: of `pipeline` in TraceHeader's. The store must outlive the trace. `to_real_time`: what
  // makes the model's instants times since 1970, for pcapng.
  FateTrace(TraceFormat format, std::string pipeline, uint32_t index, FrameStore& store,
            Duration to_real_time, Write write);
  void OnFate(const Packet& packet, Fate fate, Instant at) override;

 private:
  TraceFormat format_;
  std::string pipeline_;
  uint32_t index_;
  FrameStore& store_;
  Duration to_real_time_;
  Write write_;
};

}  // namespace viaduct::path
