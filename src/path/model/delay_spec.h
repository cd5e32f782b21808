// The delay, jitter and reordering of a SPEC.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "path/model/chance.h"

namespace viaduct::path {

enum class Order { kKeep, kFree };

struct Jitter {
  Duration amount;         // unit of the distribution
  double correlation = 0;  // between the deviations of consecutive packets
  friend bool operator==(const Jitter&, const Jitter&) = default;
};

struct DelaySpec {
  std::optional<Duration> base;
  std::optional<std::string> trace;  // instead of `base`: a trace file (path/trace/trace.h)
  std::optional<Jitter> jitter;
  std::optional<std::string> distribution;  // a name (path/model/distribution.h), or a file
  std::optional<Order> order;               // kFree: jitter and shorter delays let packets overtake
  bool HasDelay() const { return base || trace; }
  friend bool operator==(const DelaySpec&, const DelaySpec&) = default;
};

// Reordering: chosen packets are not delayed and so overtake others. At least `gap` - 1 packets lie
// between two chosen packets.
struct Reorder {
  Chance chance;
  int64_t gap = 1;
  friend bool operator==(const Reorder&, const Reorder&) = default;
};

}  // namespace viaduct::path
