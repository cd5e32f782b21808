// A token bucket like the kernel's TBF without a peak rate: a frame leaves at the instant when
// there are tokens for all of its bytes; up to `burst` bytes leave at once after an idle time.
#pragma once

#include "path/queue/rate_server.h"

namespace viaduct::path {

// The rate is exact: tokens are stored as the instant at which the bucket is full, with a fraction,
// so the long-run rate has no error. A frame of more than `burst` bytes is not dropped (unlike in
// TBF): it leaves when the tokens that it needs in addition to a full bucket would have arrived.
class TokenBucket : public RateServer {
 public:
  // `rate` is in bit/s, `burst` in bytes; both must be greater than zero. The bucket is full at the
  // start.
  TokenBucket(int64_t rate, int64_t burst, FrameOverhead overhead = {});
  void Begin(Instant now) override { full_ = now; }
  Instant Send(Instant start, uint32_t bytes) override;
  int64_t RateAt(Instant) const override { return rate_; }

 private:
  int64_t rate_;
  int64_t burst_;
  FrameOverhead overhead_;
  Instant full_;           // instant at which the bucket is full if nothing more is sent
  int64_t remainder_ = 0;  // remainder of rounding full_, in 1/rate_ nanoseconds
};

}  // namespace viaduct::path
