#include "path/queue/codel.h"

namespace viaduct::path {

std::span<const Parameter<CodelParameters>> CodelParameters::Table() {
  using P = CodelParameters;
  static constexpr Parameter<P> kTable[] = {TimeParameter<&P::target>("target"),
                                            TimeParameter<&P::interval>("interval"),
                                            SwitchParameter<&P::ecn>("ecn")};
  return kTable;
}

void CodelParameters::Check() const {
  if (target < interval) return;
  throw UsageError("target must be less than interval (RFC 8289: 5% to 10% of interval)");
}

bool Codel::IsAboveForLong(Duration sojourn, uint64_t bytes, Instant now,
                           const CodelParameters& parameters) {
  if (sojourn < parameters.target || bytes <= max_packet_) {
    first_above_.reset();
    return false;
  }
  if (!first_above_) {
    first_above_ = now + parameters.interval;
    return false;
  }
  return now >= *first_above_;
}

// Starts dropping; if the last dropping ended a short time ago, continues at the drop rate that
// controlled the queue.
void Codel::Enter(Instant now, Duration interval) {
  dropping_ = true;
  const uint32_t delta = count_ - last_count_;
  count_ = 1;
  if (delta > 1 && now - drop_next_ < interval * 16) count_ = delta;
  drop_next_ = ControlLaw(now, interval, count_);
  last_count_ = count_;
}

}  // namespace viaduct::path
