// Bit errors: each bit is flipped with the same small probability, independently. The distance to
// the next error is drawn once per error (geometric distribution), so the cost is per error and not
// per bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/random.h"

namespace viaduct::path {

// The length in bytes of the Ethernet header of a frame. Bit errors hit the header only if the SPEC
// has `header`.
inline constexpr uint32_t kSparedHeader = 14;

// The bit errors of a SPEC.
struct BitErrorSpec {
  double rate = 0;      // probability, 0..1
  bool header = false;  // whether bit errors may hit the Ethernet header too
  friend bool operator==(const BitErrorSpec&, const BitErrorSpec&) = default;
};

class BitErrors {
 public:
  BitErrors(const BitErrorSpec& spec, RandomStream& random);

  // Returns whether a frame of `bytes` bytes has bit errors. If so, Flip() must follow.
  bool Hit(uint32_t bytes) {
    const uint64_t bits = bytes > skip_ ? uint64_t{bytes - skip_} * 8 : 0;
    if (next_ < bits) return true;
    next_ -= bits;
    return false;
  }
  // Flips the bits in the frame for which Hit() returned true; returns the number of flipped bits.
  uint64_t Flip(std::span<std::byte> frame, RandomStream& random);

 private:
  uint64_t Gap(RandomStream& random) const;

  double rate_;
  double log_good_;  // log(1 - rate)
  uint32_t skip_;    // bytes at the start of each frame that are never hit
  uint64_t next_;    // bits before the next error, not counting bits that are never hit
};

}  // namespace viaduct::path
