// Events from a forwarder back to the control plane: a bounded ring in shared memory with one
// writer and one reader. Neither waits for the other: events for which there is no space are lost,
// and the writer must be able to report them again. Either side may exit and be replaced.
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
// kWritten and kRead count events and never wrap to 0; the places of the events follow.
enum HeaderWord : size_t { kWritten, kRead, kHeaderWords };
inline constexpr size_t kEvents = 1024;  // a power of two
inline constexpr size_t kWords = kHeaderWords + 2 * kEvents;
}  // namespace event_ring

// The receiver of a forwarding program's events.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // Returns false if there is no space.
  virtual bool Write(const Event& event) = 0;
};

class EventWriter final : public EventSink {
 public:
  // `doorbell`: an end of a stream socket pair, whose other end wakes the reader; not owned. (With
  // an eventfd the other side could block the writer.) The words must outlive this. Throws
  // UsageError if they are fewer than event_ring::kWords.
  EventWriter(std::span<Word> words, int doorbell);
  bool Write(const Event& event) override;

 private:
  std::span<Word> words_;
  int doorbell_;
};

class EventReader {
 public:
  // `doorbell`: the other end of EventWriter's socket pair; not owned. The words must outlive this.
  // Throws UsageError if they are fewer than event_ring::kWords.
  EventReader(std::span<Word> words, int doorbell);
  // Must be called before events are read: the doorbell rings again for later events. Returns false
  // if the other side has shut the doorbell down, so that it would ring for ever.
  bool Answer();
  // Returns the next event, or nothing if there is none. Whatever the writer has done to the
  // memory, returns at most event_ring::kEvents events between two calls of Answer().
  std::optional<Event> Read();

 private:
  std::span<Word> words_;
  int doorbell_;
  size_t left_ = 0;
};

}  // namespace viaduct::forward
