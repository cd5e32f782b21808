#include "base/sequence_window.h"

#include <algorithm>

namespace viaduct {

SequenceWindow::Arrival SequenceWindow::Take(uint64_t sequence) {
  const bool late = sequence < next_;
  const uint64_t block = sequence / kBlock;
  if (block < first_block_) return Arrival::kLate;
  Cover(block);
  auto bit = blocks_[block - first_block_][sequence % kBlock];
  if (bit) return Arrival::kDuplicate;
  bit = true;
  next_ = std::max(next_, sequence + 1);
  return late ? Arrival::kLate : Arrival::kNext;
}

// Moves the window up until it covers the block. The numbers of newly covered blocks count as not
// arrived.
void SequenceWindow::Cover(uint64_t block) {
  if (block >= first_block_ + blocks_.size() + kBlocks) {
    blocks_.clear();
    first_block_ = block + 1 - kBlocks;
  }
  while (block >= first_block_ + blocks_.size()) {
    blocks_.emplace_back();
    if (blocks_.size() <= kBlocks) continue;
    blocks_.pop_front();
    ++first_block_;
  }
}

}  // namespace viaduct
