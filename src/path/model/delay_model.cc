#include "path/model/delay_model.h"

#include <algorithm>
#include <cmath>

namespace viaduct::path {
namespace {

constexpr double kMaxDelay = 2 * 86400e9;  // ns; limit for outliers of a trace or a table

DelayTrace ReadTrace(const DelaySpec& spec, const FileReader& read_file) {
  return spec.trace ? ParseDelayTrace(read_file(*spec.trace), *spec.trace) : DelayTrace();
}

}  // namespace

DelayModel::DelayModel(const DelaySpec& spec, const FileReader& read_file)
    : base_(spec.base.value_or(Duration())),
      constant_(!spec.trace && spec.jitter.value_or(Jitter()).amount == Duration()),
      trace_(ReadTrace(spec, read_file)),
      jitter_(static_cast<double>(spec.jitter.value_or(Jitter()).amount.nanoseconds())),
      correlation_(spec.jitter.value_or(Jitter()).correlation),
      innovation_(std::sqrt(1 - correlation_ * correlation_)),
      distribution_(Distribution::Of(spec.distribution.value_or(kDefaultDistribution), read_file)) {
}

Duration DelayModel::TracedBase(Instant now) {
  if (trace_.delays.empty()) return base_;
  if (trace_.times.empty()) {
    const Duration delay = trace_.delays[at_];
    at_ = at_ + 1 == trace_.delays.size() ? 0 : at_ + 1;
    return delay;
  }
  start_ = std::min(start_, now);
  Duration elapsed = now - start_;
  if (trace_.round != Duration()) {
    elapsed = elapsed - trace_.round * (elapsed / trace_.round);
    if (trace_.times[at_] > elapsed) at_ = 0;
  }
  while (at_ + 1 < trace_.times.size() && trace_.times[at_ + 1] <= elapsed) ++at_;
  return trace_.delays[at_];
}

// Returns the deviation in units of the jitter. With a correlation: u = Phi(z) of an autoregressive
// Gaussian process z, so that each deviation has the requested distribution for any correlation.
double DelayModel::Deviation(RandomStream& random) {
  if (correlation_ == 0) return distribution_.Quantile(random.Uniform());
  const double drawn = Distribution::Normal().Quantile(random.Uniform());
  state_ = drawn_ ? correlation_ * state_ + innovation_ * drawn : drawn;
  drawn_ = true;
  if (distribution_.IsNormal()) return state_;
  return distribution_.Quantile(NormalProbability(state_));
}

Duration DelayModel::Sample(Instant now, RandomStream& random) {
  const Duration base = TracedBase(now);
  if (jitter_ == 0) return base;
  const double delay =
      static_cast<double>(base.nanoseconds()) + std::floor(jitter_ * Deviation(random) + 0.5);
  return Duration::Nanoseconds(static_cast<int64_t>(std::clamp(delay, 0.0, kMaxDelay)));
}

}  // namespace viaduct::path
