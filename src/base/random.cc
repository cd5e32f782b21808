#include "base/random.h"

namespace viaduct {
namespace {

uint64_t SplitMix64(uint64_t& state) {
  uint64_t z = (state += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

// Returns the 64-bit FNV-1a hash of a name, which is the same on all machines.
uint64_t HashName(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : name) hash = (hash ^ c) * 0x100000001b3;
  return hash;
}

constexpr uint64_t RotateLeft(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

}  // namespace

RandomStream::RandomStream(uint64_t seed, std::string_view name) {
  uint64_t mix = seed;
  uint64_t start = SplitMix64(mix) ^ HashName(name);
  for (uint64_t& word : state_) word = SplitMix64(start);
}

uint64_t RandomStream::Next() {
  const uint64_t result = RotateLeft(state_[0] + state_[3], 23) + state_[0];
  const uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = RotateLeft(state_[3], 45);
  return result;
}

uint64_t RandomStream::Below(uint64_t bound) {
  auto product = static_cast<unsigned __int128>(Next()) * bound;
  if (static_cast<uint64_t>(product) < bound) {
    const uint64_t threshold = -bound % bound;
    while (static_cast<uint64_t>(product) < threshold)
      product = static_cast<unsigned __int128>(Next()) * bound;
  }
  return static_cast<uint64_t>(product >> 64);
}

}  // namespace viaduct
