// The length or the limit of a queue in packets, in bytes, or in a time that the link needs to send
// the packets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace viaduct::path {

struct QueueSize {
  enum class Unit { kPackets, kBytes, kTime };
  Unit unit = Unit::kPackets;
  int64_t amount = 0;  // packets, bytes or nanoseconds
  friend bool operator==(const QueueSize&, const QueueSize&) = default;
};

constexpr QueueSize QueuePackets(int64_t packets) { return {QueueSize::Unit::kPackets, packets}; }

// Parses "100p", "64kB" or "20ms", which must be greater than zero. Throws UsageError if the text
// is not valid.
QueueSize ParseQueueSize(std::string_view text);
// Parses a queue size that may not be a time. Throws UsageError if the text is not valid.
QueueSize ParseQueueLength(std::string_view text);
std::string FormatQueueSize(const QueueSize& size);

}  // namespace viaduct::path
