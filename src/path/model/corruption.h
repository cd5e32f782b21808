// Corruption: a share of the frames has one flipped bit each, whatever their length, as netem's
// `corrupt` (net/sched/sch_netem.c, netem_enqueue). Errors per bit: bit_errors.h.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "path/model/chance.h"

namespace viaduct::path {

struct Corruption {
  Chance chance;
  bool header = false;  // may hit the Ethernet header too
  friend bool operator==(const Corruption&, const Corruption&) = default;

  // Flips one bit, each with the same probability; returns how many (0 of a frame that has no bits
  // to hit).
  uint64_t Flip(std::span<std::byte> frame, RandomStream& random) const;
};

// "1%", "1%:corr=25%,header". Throws UsageError.
Corruption ParseCorruption(std::string_view value);
std::string FormatCorruption(const Corruption& corruption);

}  // namespace viaduct::path
