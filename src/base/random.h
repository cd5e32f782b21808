// Seeded random streams. The same (seed, name) gives the same numbers on every machine and library:
// the generator and every distribution are implemented here or exactly specified, never
// std::*_distribution (whose algorithms differ between standard libraries).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace viaduct {

// A random stream of the generator xoshiro256++ 1.0 (Blackman and Vigna, 2019), seeded by
// splitmix64.
class RandomStream {
 public:
  // Creates the stream of (seed, name). Different names give independent streams: the number of
  // draws from one stream does not change the numbers of another.
  RandomStream(uint64_t seed, std::string_view name);

  uint64_t Next();
  // Returns a number uniform in [0, 1), with 53 random bits.
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  // Returns an integer uniform in [0, bound), without bias (Lemire 2019). `bound` must be positive.
  uint64_t Below(uint64_t bound);
  // Returns true with the given probability (0: never; 1: always).
  bool Chance(double probability) { return Uniform() < probability; }

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace viaduct
