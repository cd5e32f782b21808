// A ring of events from a forwarder to the control plane: a bounded ring in shared memory with one
// writer and one reader. Neither writer nor reader waits: events for which there is no space are
// lost, and the writer must be able to report them again. Writer and reader may each exit and be
// replaced.
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
// The first words of the ring: the numbers of events written and read so far, which never wrap to
// 0. The events follow behind them.
enum HeaderWord : size_t { kWritten, kRead, kHeaderWords };
inline constexpr size_t kEvents = 1024;  // the ring's capacity in events, a power of two
inline constexpr size_t kWords = kHeaderWords + 2 * kEvents;
}  // namespace event_ring

// The receiver of a forwarding program's events.
class EventSink {
 public:
  virtual ~EventSink() = default;
  // Reports an event. Returns false if there is no space for it.
  virtual bool Write(const Event& event) = 0;
};

class EventWriter final : public EventSink {
 public:
  // `doorbell`: an end of a stream socket pair, whose other end wakes the reader; not owned. (With
  // an eventfd, the reader's process could block the writer.) The words must outlive this object.
  // Throws UsageError if there are fewer than event_ring::kWords words.
  EventWriter(std::span<Word> words, int doorbell);
  bool Write(const Event& event) override;

 private:
  std::span<Word> words_;
  int doorbell_;
};

class EventReader {
 public:
  // `doorbell`: the other end of EventWriter's socket pair; not owned. The words must outlive this
  // object. Throws UsageError if there are fewer than event_ring::kWords words.
  EventReader(std::span<Word> words, int doorbell);
  // Resets the doorbell. Must be called before events are read, so that the doorbell rings again
  // for later events. Returns false if the writer's process has shut the doorbell down, which would
  // make it ring for ever.
  bool Answer();
  // Returns the next event, or nothing if there is none. Returns at most event_ring::kEvents events
  // between two calls of Answer(), even if the writer has corrupted the memory.
  std::optional<Event> Read();

 private:
  std::span<Word> words_;
  int doorbell_;
  size_t left_ = 0;
};

}  // namespace viaduct::forward
