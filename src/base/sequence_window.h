// Sequence numbers: distinguishes new ones from duplicates, and extends numbers of few bits.
#pragma once

#include <bitset>
#include <cstdint>
#include <deque>

namespace viaduct {

// Distinguishes new packets of a flow from duplicates in bounded memory: remembers the last
// kNumbers sequence numbers, a bit for each.
class SequenceWindow {
 public:
  // Sixteen seconds of a million packets a second; 2 MiB, of which a short flow uses little.
  static constexpr uint64_t kNumbers = 1 << 24;

  enum class Arrival {
    kNext,  // higher than all before
    kLate,  // lower than an earlier one; also any number that is older than the window
    kDuplicate,
  };
  Arrival Take(uint64_t sequence);
  // Returns the highest number so far, plus one.
  uint64_t next() const { return next_; }

 private:
  static constexpr uint64_t kBlock = 1 << 16;
  static constexpr uint64_t kBlocks = kNumbers / kBlock;

  void Cover(uint64_t block);

  std::deque<std::bitset<kBlock>> blocks_;
  uint64_t first_block_ = 0;
  uint64_t next_ = 0;
};

// Returns the whole number whose low bits were read and which is nearest to `known`: less than half
// of the range of these bits away.
template <class Bits>
uint64_t NearestTo(uint64_t known, Bits low) {
  const auto ahead = static_cast<Bits>(low - static_cast<Bits>(known));
  const auto behind = static_cast<Bits>(-ahead);
  return ahead <= behind || behind > known ? known + ahead : known - behind;
}

// Returns the next value of a counter that only grows and of which only the low bits were read.
template <class Bits>
uint64_t GrownFrom(uint64_t before, Bits low) {
  return before + static_cast<Bits>(low - static_cast<Bits>(before));
}

}  // namespace viaduct
