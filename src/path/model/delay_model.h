// The delay of each packet.
#pragma once

#include "base/random.h"
#include "base/time.h"
#include "path/model/delay_spec.h"
#include "path/model/distribution.h"
#include "path/packet/pipeline_options.h"
#include "path/trace/trace.h"

namespace viaduct::path {

// The delay: a base (constant, or from a trace) and a random deviation from the base; never below
// zero.
class DelayModel {
 public:
  // `read_file` reads the files that the spec names; the constructor throws UsageError if the files
  // are invalid. A time trace starts when Begin() is called or, if Begin() is not called, at the
  // first packet.
  DelayModel(const DelaySpec& spec, const FileReader& read_file);
  // Constructs a model without delay.
  DelayModel() : DelayModel(DelaySpec(), {}) {}

  void Begin(Instant now) { start_ = now; }
  // Returns whether Sample() is always Base(): no deviation, no trace.
  bool IsConstant() const { return constant_; }
  Duration Base() const { return base_; }
  // Returns the delay of the next packet, which enters at `now`; `now` must not decrease.
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
  double state_ = 0;   // state of the Gaussian process; drawn when the first packet arrives
  bool drawn_ = false;
  Distribution distribution_;
};

}  // namespace viaduct::path
