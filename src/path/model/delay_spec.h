// What a SPEC says of how long packets are under way, and which of them are taken out of turn.
#pragma once

#include <optional>
#include <string>

#include "base/time.h"
#include "path/model/loss.h"

namespace viaduct::path {

enum class Order { kKeep, kFree };

struct Jitter {
  Duration amount;         // the unit of the distribution
  double correlation = 0;  // of a packet's deviation with that of the packet before
  friend bool operator==(const Jitter&, const Jitter&) = default;
};

struct DelaySpec {
  std::optional<Duration> base;
  std::optional<std::string> trace;  // instead of base: a file (path/trace/trace.h)
  std::optional<Jitter> jitter;
  std::optional<std::string>
      distribution;            // the name of one (path/model/distribution.h), or a file
  std::optional<Order> order;  // kFree: jitter and shorter delays let packets overtake
  bool HasDelay() const { return base || trace; }
  friend bool operator==(const DelaySpec&, const DelaySpec&) = default;
};

// Takes a packet out of turn: it is not delayed. At least `gap` - 1 packets lie between two.
struct Reorder {
  Chance chance;
  int64_t gap = 1;
  friend bool operator==(const Reorder&, const Reorder&) = default;
};

}  // namespace viaduct::path
