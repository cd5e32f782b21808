// Corruption: a share of the frames has one flipped bit each, regardless of their length, as in
// netem's `corrupt` (net/sched/sch_netem.c, netem_enqueue). Errors per bit are in bit_errors.h.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "path/model/chance.h"

namespace viaduct::path {

// The treatment of the transport checksum of a damaged frame. kKeep does not change the checksum,
// so that the checksum shows the damage; kFix updates the checksum.
enum class DamagedChecksum { kKeep, kFix };

struct Corruption {
  Chance chance;
  bool header = false;  // whether the Ethernet header may be hit too
  // With kFix, the flipped bit is in the payload of UDP or TCP, whose checksum is updated; a frame
  // without such a payload is not hit.
  DamagedChecksum checksum = DamagedChecksum::kKeep;
  friend bool operator==(const Corruption&, const Corruption&) = default;

  // Throws UsageError if the parameters contradict each other.
  void Check() const;
  // Flips one bit, each with the same probability. Returns the number of flipped bits: 1, or 0 for
  // a frame that has no bits to hit.
  uint64_t Flip(std::span<std::byte> frame, RandomStream& random) const;
};

// Parses "1%", "1%:corr=25%,header" or "1%:checksum=fix". Throws UsageError if the value is not
// valid.
Corruption ParseCorruption(std::string_view value);
std::string FormatCorruption(const Corruption& corruption);

}  // namespace viaduct::path
