// Every packet's fate as text: JSON lines, or a pcapng file with the packets and a comment for
// each. The text is passed to a callback; no file is written here.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "path/packet/fate.h"

namespace viaduct::path {

enum class TraceFormat { kJsonLines, kPcapng };

// The header of a trace. `pipelines`: their names; a pcapng file has an interface for each.
std::string TraceHeader(TraceFormat format, const std::vector<std::string>& pipelines);

// One line, with its newline:
// {"at":NS,"pipeline":"NAME","number":1,"bytes":1514,"arrived":NS,"fate":"delivered"}, and, where
// they apply, "duplicate":true, "corrupted":true, "marked":true. NS: the model's instants in
// nanoseconds.
std::string FateJson(std::string_view pipeline, const Packet& packet, Fate fate, Instant at);
// "delivered, packet 1 of NAME, arrived 0.001000000 s before, corrupted".
std::string FateComment(std::string_view pipeline, const Packet& packet, Fate fate, Instant at);

// Observes one pipeline; fates are in the order of time within it.
class FateTrace final : public FateObserver {
 public:
  using Write = std::function<void(std::string_view)>;
  // `index`: the position of `pipeline` in TraceHeader's list. The store must outlive the trace.
  // `to_real_time`: added to the model's instants to get times since 1970, for pcapng.
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
