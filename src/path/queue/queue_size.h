// The length or the limit of a queue in packets, in bytes, or in what the link sends in a given
// time.
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

// Parses "100p", "64kB", "20ms"; greater than zero. Throws UsageError.
QueueSize ParseQueueSize(std::string_view text);
// Parses a queue size that may not be a time. Throws UsageError.
QueueSize ParseQueueLength(std::string_view text);
std::string FormatQueueSize(const QueueSize& size);

}  // namespace viaduct::path
