// Events from a forwarder back to the control plane: a bounded ring in shared memory with one
// writer and one reader. Neither waits for the other: what has no room is lost, and whoever writes
// must be able to tell again. Either side may die and be replaced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "plane/forward/shared_memory.h"

namespace viaduct::forward {

struct Event {
  uint64_t key = 0, value = 0;
  friend bool operator==(const Event&, const Event&) = default;
};

namespace event_ring {
// Both count events without end; the places of the others follow.
enum HeaderWord : size_t { kWritten, kRead, kHeaderWords };
inline constexpr size_t kEvents = 1024;  // a power of two
inline constexpr size_t kWords = kHeaderWords + 2 * kEvents;
}  // namespace event_ring

// Where a forwarding program puts its events.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // False: there is no room.
  virtual bool Write(const Event& event) = 0;
};

class EventWriter final : public EventSink {
 public:
  // `doorbell`: an end of a stream socket pair, whose other end wakes the reader; not owned. (Of an
  // eventfd the other side could make writing wait.) The words must outlive this. Throws UsageError
  // if they are fewer than event_ring::kWords.
  EventWriter(std::span<Word> words, int doorbell);
  bool Write(const Event& event) override;

 private:
  std::span<Word> words_;
  int doorbell_;
};

class EventReader {
 public:
  // As above, with the other end.
  EventReader(std::span<Word> words, int doorbell);
  // Before events are read: the doorbell rings again for those that come later. False: the other
  // side has shut it down, and it would ring for ever.
  bool Answer();
  // Nothing if there is no event. Whatever the writer has done to the memory, no more than
  // event_ring::kEvents come between two calls of Answer().
  std::optional<Event> Read();

 private:
  std::span<Word> words_;
  int doorbell_;
  size_t left_ = 0;
};

}  // namespace viaduct::forward
