// Sequence numbers: which have come, and those of few bits that begin anew.
#pragma once

#include <bitset>
#include <cstdint>
#include <deque>

namespace viaduct {

// Tells new packets of a flow from duplicates in bounded memory: it remembers the last kNumbers
// sequence numbers, a bit for each.
class SequenceWindow {
 public:
  // Sixteen seconds of a million packets a second; 2 MiB, of which a short flow uses little.
  static constexpr uint64_t kNumbers = 1 << 24;

  enum class Arrival {
    kNext,  // above all before
    kLate,  // came after a higher one; also what is older than the window, whatever it is
    kDuplicate,
  };
  Arrival Take(uint64_t sequence);
  // The highest number so far, plus one.
  uint64_t next() const { return next_; }

 private:
  static constexpr uint64_t kBlock = 1 << 16;
  static constexpr uint64_t kBlocks = kNumbers / kBlock;

  void Cover(uint64_t block);

  std::deque<std::bitset<kBlock>> blocks_;
  uint64_t first_block_ = 0;
  uint64_t next_ = 0;
};

// The number whose low bits were read, where the whole number is known to be near `known`: not
// half of their range or more from it.
template <class Bits>
uint64_t NearestTo(uint64_t known, Bits low) {
  const auto ahead = static_cast<Bits>(low - static_cast<Bits>(known));
  const auto behind = static_cast<Bits>(-ahead);
  return ahead <= behind || behind > known ? known + ahead : known - behind;
}

// The next value of a counter that only grows, of which the low bits were read.
template <class Bits>
uint64_t GrownFrom(uint64_t before, Bits low) {
  return before + static_cast<Bits>(low - static_cast<Bits>(before));
}

}  // namespace viaduct
