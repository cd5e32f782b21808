// Statistics of a flow's packets, from sequence numbers and times at the receiver.
#pragma once

#include <cstdint>
#include <vector>

#include "base/histogram.h"
#include "base/time.h"
#include "load/payload.h"

namespace viaduct::load {

// Counts received, duplicate and reordered packets with fixed memory: a bitmap of the last
// kWindow sequence numbers. A packet older than that counts as reordered, never as duplicate.
class Tally {
 public:
  static constexpr uint64_t kWindow = 1 << 16;

  Tally();
  // `bytes`: the UDP payload.
  void Record(const Header& header, int bytes, Instant received);

  uint64_t received() const { return received_; }  // without duplicates
  uint64_t bytes() const { return bytes_; }
  uint64_t duplicates() const { return duplicates_; }
  uint64_t reordered() const { return reordered_; }  // came after a higher sequence number
  uint64_t sequences_seen() const { return next_; }  // highest sequence number + 1
  const Histogram& delay() const { return delay_; }  // one way, nanoseconds
  Instant first() const { return first_; }
  Instant last() const { return last_; }

 private:
  bool InWindow(uint64_t sequence) const;
  bool SeenBefore(uint64_t sequence) const;
  void Advance(uint64_t sequence);

  std::vector<bool> seen_;
  uint64_t next_ = 0;
  uint64_t received_ = 0, bytes_ = 0, duplicates_ = 0, reordered_ = 0;
  Instant first_, last_;
  Histogram delay_;
};

// The number of packets in each interval of time, in fixed memory: where there would be more than
// kMaxIntervals of them, each two become one of twice the length.
class TimeSeries {
 public:
  static constexpr Duration kInterval = Duration::Milliseconds(100);  // at first
  static constexpr size_t kMaxIntervals = 36000;                      // an hour of these

  TimeSeries() { counts_.reserve(kMaxIntervals); }
  // `since_first`: time since the flow's first packet.
  void Add(Duration since_first, uint64_t packets);
  const std::vector<uint64_t>& counts() const { return counts_; }
  Duration interval() const { return interval_; }

 private:
  void Coarsen();

  Duration interval_ = kInterval;
  std::vector<uint64_t> counts_;
};

}  // namespace viaduct::load
