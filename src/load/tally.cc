#include "load/tally.h"

#include <algorithm>

namespace viaduct::load {

Tally::Tally() : seen_(kWindow, false) {}

void Tally::Record(const Header& header, int bytes, Instant received) {
  if (received_ == 0) first_ = received;
  if (header.sequence >= next_) {
    Advance(header.sequence);
  } else if (SeenBefore(header.sequence)) {
    ++duplicates_;
    return;
  } else {
    ++reordered_;
  }
  if (InWindow(header.sequence)) seen_[header.sequence % kWindow] = true;
  ++received_;
  bytes_ += bytes;
  last_ = received;
  delay_.Record((received - header.sent).nanoseconds());
}

bool Tally::InWindow(uint64_t sequence) const { return next_ - sequence <= kWindow; }

bool Tally::SeenBefore(uint64_t sequence) const {
  return InWindow(sequence) && seen_[sequence % kWindow];
}

// Moves the window up to `sequence`; the newly covered numbers are marked as not received.
void Tally::Advance(uint64_t sequence) {
  const uint64_t skipped = std::min(sequence - next_, kWindow);
  for (uint64_t i = 1; i <= skipped; ++i) seen_[(sequence - i) % kWindow] = false;
  next_ = sequence + 1;
}

void TimeSeries::Add(Duration since_first, uint64_t packets) {
  const Duration since = std::max(since_first, Duration());
  while (since / interval_ >= static_cast<int64_t>(kMaxIntervals)) Coarsen();
  const auto index = static_cast<size_t>(since / interval_);
  if (index >= counts_.size()) counts_.resize(index + 1);
  counts_[index] += packets;
}

void TimeSeries::Coarsen() {
  interval_ = interval_ * 2;
  const size_t half = (counts_.size() + 1) / 2;
  for (size_t i = 0; i < half; ++i) {
    counts_[i] = counts_[2 * i] + (2 * i + 1 < counts_.size() ? counts_[2 * i + 1] : 0);
  }
  counts_.resize(half);
}

}  // namespace viaduct::load
