// The sending times of a link: the instants at which the link takes a packet and at which the
// packet's last bit has left. They depend on model time only, so a late caller changes nothing.
// There is one class per kind of link: ConstantRate (here), TokenBucket (token_bucket.h),
// MahimahiRate (mahimahi_rate.h), RateSeries (rate_series.h).
#pragma once

#include <cstdint>

#include "base/time.h"
#include "path/queue/frame_overhead.h"

namespace viaduct::path {

// The base class of links. Bottleneck (bottleneck.h) calls the functions in the required order.
class RateServer {
 public:
  virtual ~RateServer() = default;
  // Sets the instant at which the link begins to exist: time 0 of a trace. Called once, before all
  // other functions.
  virtual void Begin(Instant) {}
  // Returns the instant at which an idle link takes a packet that arrives now. Never: the link has
  // stopped permanently.
  virtual Instant StartIdle(Instant now) { return now; }
  // Returns the instant at which the link takes the next waiting packet, after a packet whose
  // transmission ended at `finish`.
  virtual Instant StartNext(Instant finish) { return finish; }
  // Takes a packet (`start`: the last result of StartIdle or StartNext) and returns the instant at
  // which its last bit has left; never before `start`.
  virtual Instant Send(Instant start, uint32_t bytes) = 0;
  // Returns the rate at `now` in bit/s, for limits in time and for averages; for a packet-delivery
  // trace the mean rate, for a link that has not sent yet the rate with which it will begin.
  virtual int64_t RateAt(Instant now) const = 0;
};

// A link without a rate, over which all waiting packets leave at once.
class UnlimitedRate : public RateServer {
 public:
  Instant Send(Instant start, uint32_t) override { return start; }
  int64_t RateAt(Instant) const override { return INT64_MAX; }
};

// A link with a constant rate. It is exact: the total time of consecutive packets, not the time of
// each packet, is rounded down to a nanosecond (the remainder is carried over), so the long-run
// rate has no error.
class ConstantRate : public RateServer {
 public:
  // `bits_per_second` must be greater than zero.
  explicit ConstantRate(int64_t bits_per_second, FrameOverhead overhead = {});
  Instant Send(Instant start, uint32_t bytes) override;
  int64_t RateAt(Instant) const override { return rate_; }

 private:
  int64_t rate_;
  FrameOverhead overhead_;
  Instant finish_ = Instant::Never();  // end of the previous packet's transmission
  uint64_t remainder_ = 0;             // remainder of rounding finish_, in 1/rate_ nanoseconds
};

}  // namespace viaduct::path
