// The schedule of a sender with a constant rate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"

namespace viaduct::load {

// A schedule in which packet n is due n/rate after the start, computed from n, so that rounding
// errors do not add up. A sender that was delayed (preempted, or slowed down by a kernel that
// processes the complete path within the send call) may catch up at most `catch_up`; any further
// delay shifts the schedule and is counted as slip, so that a delay does not become a burst, for
// which the network was not designed.
class Pacer {
 public:
  Pacer(double packets_per_second, Instant start, Duration catch_up)
      : period_ns_(1e9 / packets_per_second), start_(start), catch_up_(catch_up) {}

  // Returns the time at which packet `n` is due.
  Instant Due(uint64_t n) const {
    return start_ + Duration::Nanoseconds(static_cast<int64_t>(period_ns_ * n)) + slip_;
  }
  // Returns the number of packets, starting with number `sent`, that are due now; at most `limit`.
  int DueNow(uint64_t sent, Instant now, int limit) {
    const Duration behind = now - Due(sent);
    if (behind < Duration()) return 0;
    if (behind > catch_up_) slip_ += behind - catch_up_;
    const double backlog = std::min(behind, catch_up_).nanoseconds() / period_ns_;
    return static_cast<int>(std::min<double>(backlog + 1, limit));
  }
  // Returns the shift of the schedule by the delays that the sender could not catch up.
  Duration Slip() const { return slip_; }

 private:
  double period_ns_;
  Instant start_;
  Duration catch_up_;
  Duration slip_;
};

}  // namespace viaduct::load
