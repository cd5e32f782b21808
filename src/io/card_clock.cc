#include "io/card_clock.h"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/realtime.h"

namespace viaduct::io {
namespace {

constexpr uint32_t kSamples = 5;
constexpr Duration kFirstInterval = Duration::Milliseconds(1);
constexpr Duration kInterval = Duration::Milliseconds(100);
// What two readings of our clocks, one after the other, may differ by without a step between them.
constexpr Duration kNoStep = Duration::Microseconds(20);

Instant ToInstant(const ptp_clock_time& time) {
  return Instant::FromNanoseconds(time.sec * int64_t{1000000000} + time.nsec);
}

// How far CLOCK_REALTIME is ahead, from `least` to `most`; the narrowest of a few readings.
struct Ahead {
  Duration least, most;
  Duration Middle() const { return least + (most - least) / 2; }
};

Ahead RealtimeAhead() {
  constexpr int kTimes = 3;
  Ahead best{Duration(), Duration::Max()};
  for (int i = 0; i < kTimes; ++i) {
    const Instant before = MonotonicClock::Now();
    const Instant real = RealtimeNow();
    const Instant after = MonotonicClock::Now();
    if (after - before < best.most - best.least) best = {real - after, real - before};
  }
  return best;
}

}  // namespace

std::vector<ClockRelation::Reading> ReadingsOf(const ptp_sys_offset_precise& said) {
  const Instant both = ToInstant(said.sys_realtime);
  return {{both, ToInstant(said.device), both}};
}

std::vector<ClockRelation::Reading> ReadingsOf(const ptp_sys_offset_extended& said) {
  std::vector<ClockRelation::Reading> readings;
  for (uint32_t i = 0; i < std::min<uint32_t>(said.n_samples, PTP_MAX_SAMPLES); ++i) {
    readings.push_back(
        {ToInstant(said.ts[i][0]), ToInstant(said.ts[i][1]), ToInstant(said.ts[i][2])});
  }
  return readings;
}

std::vector<ClockRelation::Reading> ReadingsOf(const ptp_sys_offset& said) {
  std::vector<ClockRelation::Reading> readings;
  for (uint32_t i = 0; i < std::min<uint32_t>(said.n_samples, PTP_MAX_SAMPLES); ++i) {
    const ptp_clock_time* const sample = &said.ts[size_t{2} * i];
    readings.push_back({ToInstant(sample[0]), ToInstant(sample[1]), ToInstant(sample[2])});
  }
  return readings;
}

CardClock::CardClock(std::shared_ptr<UniqueFd> device)
    : device_(std::move(device)), interval_(kFirstInterval) {
  Keep();
  if (!relation_.known()) {
    throw EnvironmentError("the card's clock cannot be read (ioctl PTP_SYS_OFFSET): " +
                           std::string(std::strerror(errno)));
  }
}

std::vector<ClockRelation::Reading> CardClock::Ask() {
  const int fd = device_->get();
  if (way_ == Way::kPrecise) {
    ptp_sys_offset_precise said{};
    if (ioctl(fd, PTP_SYS_OFFSET_PRECISE, &said) == 0) return ReadingsOf(said);
    way_ = Way::kExtended;
  }
  if (way_ == Way::kExtended) {
    ptp_sys_offset_extended said{};
    said.n_samples = kSamples;
    if (ioctl(fd, PTP_SYS_OFFSET_EXTENDED, &said) == 0) return ReadingsOf(said);
    way_ = Way::kPlain;
  }
  ptp_sys_offset said{};
  said.n_samples = kSamples;
  if (ioctl(fd, PTP_SYS_OFFSET, &said) == 0) return ReadingsOf(said);
  return {};
}

// False: it cannot be read, or our clock was set meanwhile.
bool CardClock::Read() {
  const Ahead before = RealtimeAhead();
  std::vector<ClockRelation::Reading> readings = Ask();
  const Ahead after = RealtimeAhead();
  const Duration moved = after.Middle() - before.Middle();
  if (readings.empty() || moved > kNoStep || -moved > kNoStep) return false;
  // What is not known of our own two clocks makes a reading longer.
  for (ClockRelation::Reading& reading : readings) {
    reading.before = reading.before - std::max(before.most, after.most);
    reading.after = reading.after - std::min(before.least, after.least);
  }
  relation_.Learn(readings);
  uncertainty_.store(relation_.uncertainty().nanoseconds(), std::memory_order_relaxed);
  steps_.store(relation_.steps(), std::memory_order_relaxed);
  return true;
}

void CardClock::Keep() {
  if (MonotonicClock::Now() >= next_) {
    const bool read = Read();
    if (!read) failures_.fetch_add(1, std::memory_order_relaxed);
    if (read) interval_ = std::min(interval_ * 2, kInterval);
    next_ = MonotonicClock::Now() + interval_;
  }
  now_ = MonotonicClock::Now();
  realtime_ = RealtimeNow() - now_;
}

Instant CardClock::ToRealtime(Instant stamp) {
  return std::min(relation_.ToOurs(stamp), now_) + realtime_;
}

std::string CardClock::Description() const {
  const Way way = way_;
  const char* const name = way == Way::kPrecise    ? "PTP_SYS_OFFSET_PRECISE"
                           : way == Way::kExtended ? "PTP_SYS_OFFSET_EXTENDED"
                                                   : "PTP_SYS_OFFSET";
  std::string text =
      fmt::format("by {}, within {:.1f} us", name,
                  static_cast<double>(uncertainty_.load(std::memory_order_relaxed)) / 1e3);
  if (const uint64_t steps = steps_.load(std::memory_order_relaxed); steps > 0) {
    text += fmt::format(", but the card's clock was set {} times", steps);
  }
  if (const uint64_t failures = failures_.load(std::memory_order_relaxed); failures > 0) {
    text += fmt::format(", and could not be read {} times", failures);
  }
  return text;
}

}  // namespace viaduct::io
