// Statistics of the packets of a flow, from sequence numbers and times at the receiver.
#pragma once

#include <cstdint>

#include "base/histogram.h"
#include "base/result/gaps.h"
#include "base/sequence_window.h"
#include "base/time.h"
#include "base/wire/probe_header.h"

namespace viaduct::load {

// Counts received, duplicate and reordered packets in bounded memory. A packet that is older than
// the window of sequence numbers counts as reordered, never as duplicate.
class Tally {
 public:
  // Counts a packet. `bytes`: the length of its UDP payload.
  void Record(const Header& header, int bytes, Instant received);

  uint64_t received() const { return received_; }  // excludes duplicates
  uint64_t bytes() const { return bytes_; }
  uint64_t duplicates() const { return duplicates_; }
  // The number of packets that arrived after a packet with a higher sequence number.
  uint64_t reordered() const { return reordered_; }
  uint64_t sequences_seen() const { return window_.next(); }  // the highest sequence number + 1
  const Histogram& delay() const { return delay_; }           // one-way delay, nanoseconds
  Instant first() const { return first_; }
  Instant last() const { return last_; }
  // The gaps in the sequence; their times are the sender's (CLOCK_MONOTONIC).
  const result::GapFinder& gaps() const { return gaps_; }

 private:
  SequenceWindow window_;
  uint64_t received_ = 0, bytes_ = 0, duplicates_ = 0, reordered_ = 0;
  Instant first_, last_;
  Histogram delay_;
  result::GapFinder gaps_;
};

}  // namespace viaduct::load
