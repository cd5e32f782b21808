// The delay of each packet.
#pragma once

#include "base/random.h"
#include "base/time.h"
#include "path/model/delay_spec.h"
#include "path/model/distribution.h"
#include "path/packet/pipeline_options.h"
#include "path/trace/trace.h"

namespace viaduct::path {

// A base (constant, or from a trace) and a random deviation from it; never below zero.
class DelayModel {
 public:
  // `read_file` reads the files that the spec names; throws UsageError if they are invalid. A trace
  // over time starts with Begin(), or without it with the first packet.
  DelayModel(const DelaySpec& spec, const FileReader& read_file);
  // No delay.
  DelayModel() : DelayModel(DelaySpec(), {}) {}

  void Begin(Instant now) { start_ = now; }
  // No deviation, no trace: Sample() is always Base().
  bool IsConstant() const { return constant_; }
  Duration Base() const { return base_; }
  // The delay of the next packet, which enters at `now`; `now` must not decrease.
  Duration Sample(Instant now, RandomStream& random);

 private:
  Duration TracedBase(Instant now);
  double Deviation(RandomStream& random);

  Duration base_;
  bool constant_;
  DelayTrace trace_;
  size_t at_ = 0;                     // index into the trace
  Instant start_ = Instant::Never();  // start of the trace
  double jitter_;                     // nanoseconds
  double correlation_;
  double innovation_;  // sqrt(1 - correlation^2)
  double state_ = 0;   // state of the Gaussian process; drawn with the first packet
  bool drawn_ = false;
  Distribution distribution_;
};

}  // namespace viaduct::path
