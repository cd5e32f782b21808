#include "guest/time/event_queue.h"

#include <algorithm>

#include "base/error.h"

namespace viaduct::guest {

Instant EventQueue::NextEvent() const {
  return events_.empty() ? end_ : std::min(end_, events_.begin()->first.first);
}

void EventQueue::Schedule(Instant at, std::function<void()> action) {
  if (at < now_)
    throw Error("an event was scheduled before the current virtual time of the guests");
  events_.emplace(Key(at, next_order_++), std::move(action));
}

void EventQueue::WakeAt(Instant at) {
  events_.erase(wake_key_);
  wake_key_ = Key(at, next_order_);
  if (at != Instant::Never()) Schedule(at, [this] { wake_(); });
}

void EventQueue::RunUntil(Instant end) {
  end_ = end;
  while (NextEvent() < end) {
    auto node = events_.extract(events_.begin());
    now_ = node.key().first;
    node.mapped()();
  }
  now_ = end;
  end_ = Instant::Never();
}

void EventQueue::MoveTo(Timeline& other) {
  events_.erase(wake_key_);
  for (auto& [key, action] : events_) other.Schedule(key.first, std::move(action));
  events_.clear();
}

}  // namespace viaduct::guest
