// Sequence numbers: distinguishes new packets from duplicates, and extends numbers of few bits.
#pragma once

#include <bitset>
#include <cstdint>
#include <deque>

namespace viaduct {

// Distinguishes new packets of a flow from duplicates in bounded memory: remembers the last
// kNumbers sequence numbers, a bit for each.
class SequenceWindow {
 public:
  // The number of remembered sequence numbers: 16 seconds at a million packets a second. Their bits
  // take 2 MiB, of which a short flow uses little.
  static constexpr uint64_t kNumbers = 1 << 24;

  enum class Arrival {
    kNext,  // the number is higher than all numbers before
    // A late packet: the number is not higher than all numbers before but has not arrived yet, or
    // the number is older than the window.
    kLate,
    kDuplicate,
  };
  Arrival Take(uint64_t sequence);
  // Returns the highest sequence number so far, plus one.
  uint64_t next() const { return next_; }

 private:
  static constexpr uint64_t kBlock = 1 << 16;
  static constexpr uint64_t kBlocks = kNumbers / kBlock;

  void Cover(uint64_t block);

  std::deque<std::bitset<kBlock>> blocks_;
  uint64_t first_block_ = 0;
  uint64_t next_ = 0;
};

// Returns the full 64-bit number that has the given low bits and is nearest to `known`: the two
// differ by less than half of the range of the low bits.
template <class Bits>
uint64_t NearestTo(uint64_t known, Bits low) {
  const auto ahead = static_cast<Bits>(low - static_cast<Bits>(known));
  const auto behind = static_cast<Bits>(-ahead);
  return ahead <= behind || behind > known ? known + ahead : known - behind;
}

// Returns the new value of a counter that only grows, from its value `before` and the low bits of
// the new value.
template <class Bits>
uint64_t GrownFrom(uint64_t before, Bits low) {
  return before + static_cast<Bits>(low - static_cast<Bits>(before));
}

}  // namespace viaduct
