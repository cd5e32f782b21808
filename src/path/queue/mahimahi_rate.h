// A rate given by a packet-delivery trace in the format of Mahimahi (Netravali et al., USENIX ATC
// 2015): each line is a time in milliseconds at which the link can deliver 1504 bytes. Times do not
// decrease; a time that occurs n times means n opportunities. After the last line the trace starts
// again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "path/queue/rate_server.h"

namespace viaduct::path {

// Parses a trace; returns milliseconds since the trace's start. Throws UsageError naming `file` and
// the line if a line is not a number, times decrease, or the trace is empty or has only zeros.
std::vector<uint32_t> ParseMahimahi(std::string_view text, const std::string& file);

// Behaves as mahimahi's link_queue.cc: an opportunity at which the queue is empty is lost, even for
// a packet that arrives at the same instant; small packets share an opportunity, and a packet that
// does not fit continues in the next opportunity. A packet counts with its IP length and the 4
// bytes that mahimahi's TUN device prepends; the packet leaves the queue at the opportunity that
// takes its first byte. The trace starts with the first packet.
class MahimahiRate : public RateServer {
 public:
  static constexpr int64_t kOpportunityBytes = 1504;

  // `milliseconds`: the trace that ParseMahimahi() returns.
  explicit MahimahiRate(std::vector<uint32_t> milliseconds, FrameOverhead overhead = {});
  void Begin(Instant now) override { base_ = now; }
  Instant StartIdle(Instant now) override;
  Instant StartNext(Instant finish) override;
  Instant Send(Instant start, uint32_t bytes) override;
  int64_t RateAt(Instant) const override { return mean_; }

 private:
  Instant OpportunityTime() const;
  void Advance();

  std::vector<uint32_t> milliseconds_;
  FrameOverhead overhead_;
  int64_t mean_;
  Instant base_;     // start of the current round of the trace
  size_t next_ = 0;  // index of the current or next opportunity
  int64_t left_ = kOpportunityBytes;
};

}  // namespace viaduct::path
