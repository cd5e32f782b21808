// Seeded random streams. The same (seed, name) gives the same numbers on every machine and library:
// the generator and every distribution are implemented here or exactly specified, never
// std::*_distribution (whose algorithms differ between standard libraries).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace viaduct {

// xoshiro256++ 1.0 (Blackman and Vigna, 2019), seeded by splitmix64.
class RandomStream {
 public:
  // Creates a separate stream for each (seed, name): the streams of one run do not disturb each
  // other.
  RandomStream(uint64_t seed, std::string_view name);

  uint64_t Next();
  // Uniform in [0, 1) with 53 bits.
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  // Uniform in [0, bound), without bias (Lemire 2019). bound > 0.
  uint64_t Below(uint64_t bound);
  // True with the given probability (0 never, 1 always).
  bool Chance(double probability) { return Uniform() < probability; }

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace viaduct
