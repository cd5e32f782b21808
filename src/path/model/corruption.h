// Corruption: a share of the frames has one flipped bit each, regardless of their length, as
// netem's `corrupt` (net/sched/sch_netem.c, netem_enqueue). Errors per bit: bit_errors.h.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "path/model/chance.h"

namespace viaduct::path {

// Whether the transport's checksum shows the damage.
enum class DamagedChecksum { kKeep, kFix };

struct Corruption {
  Chance chance;
  bool header = false;  // may hit the Ethernet header too
  // kFix: the bit is one of the payload of UDP or TCP, whose checksum is updated; a frame without
  // such a payload is not hit.
  DamagedChecksum checksum = DamagedChecksum::kKeep;
  friend bool operator==(const Corruption&, const Corruption&) = default;

  // Throws UsageError if the values contradict each other.
  void Check() const;
  // Flips one bit, each with the same probability; returns how many (0 of a frame that has no bits
  // to hit).
  uint64_t Flip(std::span<std::byte> frame, RandomStream& random) const;
};

// "1%", "1%:corr=25%,header", "1%:checksum=fix". Throws UsageError.
Corruption ParseCorruption(std::string_view value);
std::string FormatCorruption(const Corruption& corruption);

}  // namespace viaduct::path
