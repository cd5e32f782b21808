#include "path/queue/mahimahi_rate.h"

#include <algorithm>

#include "base/units.h"
#include "path/trace/trace_lines.h"

namespace viaduct::path {
namespace {

constexpr int64_t kEthernetHeader = 14, kTunHeader = 4;
constexpr int64_t kMaxTraceDuration = 10LL * 365 * 86400 * 1000;  // ms

}  // namespace

std::vector<uint32_t> ParseMahimahi(std::string_view text, const std::string& file) {
  std::vector<uint32_t> times;
  ForEachLine(text, file, [&times](std::string_view line) {
    const auto time = static_cast<uint32_t>(
        ParseInteger(line, 0, std::min<int64_t>(kMaxTraceDuration, UINT32_MAX)));
    if (!times.empty() && time < times.back()) {
      throw UsageError(
          fmt::format("{} follows {}; the times of a trace must not decrease", time, times.back()));
    }
    times.push_back(time);
  });
  if (times.empty()) {
    throw UsageError(
        file +
        ": contains no times; expected a packet-delivery trace with one time in ms per line");
  }
  if (times.back() == 0)
    throw UsageError(file + ": the trace has no duration; the last time must be greater than 0");
  return times;
}

MahimahiRate::MahimahiRate(std::vector<uint32_t> milliseconds, FrameOverhead overhead)
    : milliseconds_(std::move(milliseconds)),
      overhead_(overhead),
      mean_(static_cast<int64_t>(milliseconds_.size()) * kOpportunityBytes * 8 * 1000 /
            milliseconds_.back()) {}

Instant MahimahiRate::OpportunityTime() const {
  return base_ + Duration::Milliseconds(milliseconds_[next_]);
}

void MahimahiRate::Advance() {
  left_ = kOpportunityBytes;
  if (++next_ < milliseconds_.size()) return;
  next_ = 0;
  base_ += Duration::Milliseconds(milliseconds_.back());
}

// Returns the first opportunity after `now`.
Instant MahimahiRate::StartIdle(Instant now) {
  const Duration round = Duration::Milliseconds(milliseconds_.back());
  if (now - base_ >= round) {
    base_ += round * ((now - base_) / round);
    next_ = 0;
    left_ = kOpportunityBytes;
  }
  if (OpportunityTime() <= now) {
    const int64_t passed = (now - base_) / Duration::Milliseconds(1);
    const auto from = milliseconds_.begin() + static_cast<ptrdiff_t>(next_);
    next_ = static_cast<size_t>(std::upper_bound(from, milliseconds_.end(), passed) -
                                milliseconds_.begin() - 1);
    Advance();
  }
  return OpportunityTime();
}

Instant MahimahiRate::StartNext(Instant) {
  if (left_ == 0) Advance();
  return OpportunityTime();
}

Instant MahimahiRate::Send(Instant, uint32_t bytes) {
  int64_t rest = std::max<int64_t>(overhead_.Of(bytes) - kEthernetHeader + kTunHeader, 1);
  while (rest > left_) {
    rest -= left_;
    Advance();
  }
  left_ -= rest;
  return OpportunityTime();
}

}  // namespace viaduct::path
