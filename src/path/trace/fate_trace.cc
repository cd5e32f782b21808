#include "path/trace/fate_trace.h"

#include <fmt/format.h>

#include "path/trace/pcapng.h"

namespace viaduct::path {
namespace {

// Returns `text` as a JSON string. Names are UTF-8; only characters that a JSON string cannot
// contain are escaped (RFC 8259 section 7).
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

// Returns the time in milliseconds, with six decimal places.
std::string LogTime(Duration time) {
  return fmt::format("{}.{:06}", time.nanoseconds() / 1000000, time.nanoseconds() % 1000000);
}

}  // namespace

std::string TraceHeader(TraceFormat format, const std::vector<std::string>& pipelines) {
  if (format == TraceFormat::kJsonLines) return "";
  if (format == TraceFormat::kLinkLog) {
    return "# viaduct link log: TIME + BYTES NAME, TIME - BYTES DELAY NAME, "
           "TIME d 1 BYTES CAUSE NAME; in ms\n# base timestamp: 0\n";
  }
  std::string header = PcapngHeader("viaduct");
  for (const std::string& name : pipelines) header += PcapngInterface(name);
  return header;
}

std::string FateJson(std::string_view pipeline, const Packet& packet, Fate fate, Instant at) {
  return fmt::format(
      R"({{"at":{},"pipeline":{},"number":{},"bytes":{},"arrived":{},"fate":"{}"{}{}{}}})"
      "\n",
      at.nanoseconds(), Quoted(pipeline), packet.number, packet.bytes, packet.arrived.nanoseconds(),
      FateName(fate), packet.duplicate ? ",\"duplicate\":true" : "",
      packet.corrupted ? ",\"corrupted\":true" : "", packet.marked ? ",\"marked\":true" : "");
}

std::string FateComment(std::string_view pipeline, const Packet& packet, Fate fate, Instant at) {
  const int64_t inside = (at - packet.arrived).nanoseconds();
  return fmt::format("{}, packet {} of {}, arrived {}.{:09} s earlier{}{}{}", FateName(fate),
                     packet.number, pipeline, inside / 1000000000, inside % 1000000000,
                     packet.duplicate ? ", duplicate" : "", packet.corrupted ? ", corrupted" : "",
                     packet.marked ? ", marked" : "");
}

std::string ArrivalLog(std::string_view pipeline, const Packet& packet, Instant start) {
  return fmt::format("{} + {} {}\n", LogTime(packet.arrived - start), packet.bytes, pipeline);
}

std::string FateLog(std::string_view pipeline, const Packet& packet, Fate fate, Instant at,
                    Instant start) {
  const std::string time = LogTime(at - start);
  if (fate != Fate::kDelivered) {
    return fmt::format("{} d 1 {} {} {}\n", time, packet.bytes, FateName(fate), pipeline);
  }
  return fmt::format("{} - {} {} {}\n", time, packet.bytes, LogTime(at - packet.arrived), pipeline);
}

FateTrace::FateTrace(TraceFormat format, std::string pipeline, uint32_t index, FrameStore& store,
                     Duration to_real_time, Write write)
    : format_(format),
      pipeline_(std::move(pipeline)),
      index_(index),
      store_(store),
      to_real_time_(to_real_time),
      write_(std::move(write)) {}

void FateTrace::OnArrival(const Packet& packet) {
  if (format_ == TraceFormat::kLinkLog) write_(ArrivalLog(pipeline_, packet, start_));
}

void FateTrace::OnFate(const Packet& packet, Fate fate, Instant at) {
  if (format_ == TraceFormat::kJsonLines) return write_(FateJson(pipeline_, packet, fate, at));
  if (format_ == TraceFormat::kLinkLog) {
    return write_(FateLog(pipeline_, packet, fate, at, start_));
  }
  std::span<const std::byte> frame;
  if (packet.frame != kNoFrame) frame = store_.Bytes(packet.frame).first(packet.bytes);
  write_(PcapngPacket(index_, at + to_real_time_, frame, packet.bytes,
                      FateComment(pipeline_, packet, fate, at)));
}

}  // namespace viaduct::path
