// How fast a link sends: when it takes a packet, when the packet's last bit has left. Model time
// only: no caller's lateness enters. One class a kind: ConstantRate here; TokenBucket
// (token_bucket.h), MahimahiRate (mahimahi_rate.h), RateSeries (rate_series.h).
#pragma once

#include <cstdint>

#include "base/time.h"

namespace viaduct::path {

// Used by Bottleneck (bottleneck.h), which keeps the order of the calls.
class RateServer {
 public:
  virtual ~RateServer() = default;
  // The link begins to exist: where a trace's time 0 is. Called once, before all others.
  virtual void Begin(Instant) {}
  // When an idle link takes a packet that arrives now. Never: the link has stopped for good.
  virtual Instant StartIdle(Instant now) { return now; }
  // When it takes the next of those that waited while it sent a packet, gone at `finish`.
  virtual Instant StartNext(Instant finish) { return finish; }
  // Takes a packet (`start`: what StartIdle or StartNext answered last) and says when its last bit
  // has left; never before `start`.
  virtual Instant Send(Instant start, uint32_t bytes) = 0;
  // bit/s at `now`, for limits in time and for averages; a trace gives its mean.
  virtual int64_t RateAt(Instant now) const = 0;
};

// A frame's bytes on the link: with what the link adds to each (preamble, gap, cell headers).
struct FrameOverhead {
  int64_t bytes = 0;
  int64_t Of(uint32_t frame_bytes) const { return frame_bytes + bytes; }
};

// The same rate for ever. Exact: packets back to back take together what their bits take, rounded
// down to a nanosecond once and not once each (the remainder is carried), so the long-run rate has
// no error at all.
class ConstantRate : public RateServer {
 public:
  // Greater than zero.
  explicit ConstantRate(int64_t bits_per_second, FrameOverhead overhead = {});
  Instant Send(Instant start, uint32_t bytes) override;
  int64_t RateAt(Instant) const override { return rate_; }

 private:
  int64_t rate_;
  FrameOverhead overhead_;
  Instant finish_ = Instant::Never();  // of the packet before
  uint64_t remainder_ = 0;             // what finish_ is too early by, in 1/rate_ nanoseconds
};

}  // namespace viaduct::path
