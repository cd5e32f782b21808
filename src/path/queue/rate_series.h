// A rate over time from a file. A line is "SECONDS RATE": from this time, counted from the first
// packet, the link has this rate; a rate of 0 stops the link. The first line's time is 0, times
// increase. "SECONDS repeat" as the last line starts again from the first line at this time;
// without it, the last rate remains. '#' begins a comment.
//
//   0     10Mbit
//   2.5   0          # a handover
//   2.6   4.5Mbit
//   10    repeat
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "path/queue/rate_server.h"

namespace viaduct::path {

struct RateSegments {
  struct Segment {
    Duration start;
    int64_t rate = 0;  // bit/s
  };
  std::vector<Segment> segments;  // the first starts at 0
  Duration round;                 // period of the repetition; zero: not repeated
};

// Parses a rate series. Throws UsageError naming `file` and the line if a line is unreadable, times
// do not increase, or no rate is above zero.
RateSegments ParseRateSeries(std::string_view text, const std::string& file);

// A link whose rate changes over time. RateSeries is as exact as ConstantRate: the remainder of
// rounding to nanoseconds is carried over, also from one rate to the next. A packet being sent when
// the rate changes continues at the new rate.
class RateSeries : public RateServer {
 public:
  explicit RateSeries(RateSegments series, FrameOverhead overhead = {});
  void Begin(Instant now) override { base_ = now; }
  Instant Send(Instant start, uint32_t bytes) override;
  int64_t RateAt(Instant now) const override;

 private:
  using Work = unsigned __int128;  // in units of 1e-9 bit: the amount that 1 bit/s sends in 1 ns
  Instant Finish(Instant start);
  size_t SegmentAt(Duration offset) const;
  Duration SegmentEnd(size_t segment) const;
  Work WorkPerRound() const;

  RateSegments series_;
  FrameOverhead overhead_;
  Work work_per_round_;
  Instant base_;  // start of the current round
  Instant finish_ = Instant::Never();
  Work work_ = 0;  // remaining work at finish_: less than the link does in 1 ns
};

}  // namespace viaduct::path
