// A clock whose time tests set.
#pragma once

#include "base/stamp_mapper.h"

namespace viaduct {

class TestClock final : public Clock {
 public:
  Instant Now() override { return now_; }
  Instant Realtime() override { return now_ + distance_; }
  void Advance(Duration duration) { now_ += duration; }
  void Set(Instant now) { now_ = now; }
  // Sets the real-time clock forward by `duration`.
  void Step(Duration duration) { distance_ += duration; }

 private:
  Instant now_ = Instant::FromNanoseconds(1000000000);
  Duration distance_ = Duration::Seconds(1700000000);
};

}  // namespace viaduct
