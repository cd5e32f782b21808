#include "run/load/pace.h"

#include <sys/prctl.h>

#include <algorithm>

#include "base/clock.h"
#include "base/timespec.h"
#include "run/load/pacer.h"

namespace viaduct::load {
namespace {

// The distance to the next packet below which the sender spins instead of sleeping: a timer wakes
// about 5 us late on an idle core; up to 60 us were seen.
constexpr Duration kSpin = Duration::Microseconds(100);
constexpr Duration kCatchUp = Duration::Milliseconds(2);

class PacedLoop {
 public:
  PacedLoop(const PaceOptions& options, const std::atomic<bool>& stop, const SendPackets& send)
      : options_(options), stop_(stop), send_(send) {}

  Paced Run() {
    prctl(PR_SET_TIMERSLACK, 1);
    start_ = MonotonicClock::Now();
    result_.started = start_;
    end_ = start_ + options_.duration;
    if (options_.rate) {
      KeepRate(*options_.rate);
    } else {
      for (Instant now = start_; !Finished(now); now = MonotonicClock::Now()) Send(Limit(), now);
    }
    result_.elapsed = MonotonicClock::Now() - start_;
    return result_;
  }

 private:
  uint64_t Remaining() const {
    return options_.count ? *options_.count - std::min(*options_.count, result_.offered)
                          : UINT64_MAX;
  }
  bool Finished(Instant now) const { return now >= end_ || Remaining() == 0 || stop_; }
  int Limit() const {
    return static_cast<int>(std::min(static_cast<uint64_t>(options_.batch), Remaining()));
  }

  // Sends packets. The packets that were accepted count as offered. If the first packet was
  // refused, that packet counts as offered, too.
  void Send(int packets, Instant now) {
    const int taken = send_(result_.offered, packets, now);
    result_.sent += static_cast<uint64_t>(taken);
    result_.offered += static_cast<uint64_t>(std::max(taken, 1));
  }

  void KeepRate(double rate) {
    Pacer pacer(rate, start_, kCatchUp);
    for (Instant now = start_; !Finished(now); now = MonotonicClock::Now()) {
      const uint64_t number = result_.offered;
      const int due = pacer.DueNow(number, now, Limit());
      if (due == 0) {
        const Duration wait = std::min(pacer.Due(number), end_) - now;
        if (wait > kSpin) SleepFor(std::min(wait - kSpin, Duration::Milliseconds(50)));
        continue;
      }
      for (int i = 0; i < due; ++i) {
        result_.late.Record((now - pacer.Due(number + i)).nanoseconds());
      }
      Send(due, now);
    }
    result_.slip = pacer.Slip();
  }

  const PaceOptions& options_;
  const std::atomic<bool>& stop_;
  const SendPackets& send_;
  Instant start_, end_;
  Paced result_;
};

}  // namespace

void SleepFor(Duration duration) {
  const timespec ts = ToTimespec(duration);
  clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, nullptr);
}

Paced Pace(const PaceOptions& options, const std::atomic<bool>& stop, const SendPackets& send) {
  return PacedLoop(options, stop, send).Run();
}

}  // namespace viaduct::load
