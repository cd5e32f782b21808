// A minimal timeline, in which guests boot and which runs guests when there is no simulator.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "guest/time/timeline.h"

namespace viaduct::guest {

class EventQueue final : public Timeline {
 public:
  explicit EventQueue(Instant start = Instant()) : now_(start) {}

  Instant Now() const override { return now_; }
  // Returns the instant of the next event. During RunUntil() this instant is never later than the
  // end of RunUntil(), because later events may still be scheduled.
  Instant NextEvent() const override;
  void Schedule(Instant at, std::function<void()> action) override;
  void WakeAt(Instant at) override;
  void SetWake(std::function<void()> wake) override { wake_ = std::move(wake); }

  // Runs all events before `end`; afterwards Now() returns `end`. No event is lost: events at `end`
  // and later stay in the queue, and MoveTo() moves them.
  void RunUntil(Instant end);
  // Moves the remaining events to another timeline, in order, and disarms this queue's wake-up.
  void MoveTo(Timeline& other);

 private:
  using Key = std::pair<Instant, uint64_t>;  // the due instant, and the order of scheduling

  Instant now_;
  Instant end_ = Instant::Never();
  uint64_t next_order_ = 0;
  std::map<Key, std::function<void()>> events_;
  std::function<void()> wake_;
  Key wake_key_{Instant::Never(), 0};
};

}  // namespace viaduct::guest
