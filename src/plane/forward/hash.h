// A hash function for addresses.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/wire/address.h"

namespace viaduct::forward {

// Returns a hash of the value: the mixing step of splitmix64 (Steele, Lea, Flood: Fast Splittable
// Pseudorandom Number Generators, 2014).
inline uint64_t Mix(uint64_t value) {
  value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9;
  value = (value ^ value >> 27) * 0x94D049BB133111EB;
  return value ^ value >> 31;
}

inline uint64_t HashOf(const wire::IpAddress& address, uint64_t seed) {
  uint64_t halves[2];
  std::memcpy(halves, address.bytes.data(), sizeof halves);
  return Mix(Mix(seed + 0x9E3779B97F4A7C15 + halves[0]) + halves[1]);
}

}  // namespace viaduct::forward
