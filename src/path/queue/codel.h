// CoDel's control law (RFC 8289 section 5) for one queue: CodelQueue has one Codel, FqCodelQueue
// has one for each flow.
#pragma once

#include <cmath>
#include <optional>

#include "path/grammar/parameters.h"
#include "path/packet/ecn.h"
#include "path/packet/fate.h"
#include "path/packet/packet.h"

namespace viaduct::path {

struct CodelParameters {
  Duration target = Duration::Milliseconds(5);      // RFC 8289 section 4.4
  Duration interval = Duration::Milliseconds(100);  // RFC 8289 section 4.3
  bool ecn = false;

  static std::span<const Parameter<CodelParameters>> Table();
  // Throws UsageError if the parameters contradict each other.
  void Check() const;
};

class Codel {
 public:
  // A queue with at most `max_packet` bytes never drops a packet (MAXPACKET, RFC 8289 section 5.4).
  explicit Codel(uint32_t max_packet) : max_packet_(max_packet) {}

  // Returns the next packet to send, dropping and marking packets by the control law (`deque`, RFC
  // 8289 section 5.5). `Queue` must have: std::optional<Packet> TakeFront(), uint64_t bytes() const
  // (bytes waiting), bool Empty() const. A queue that returns no packet but is not Empty waits for
  // its disk and is not treated as empty.
  template <class Queue>
  std::optional<Packet> Dequeue(Queue& queue, Instant now, const CodelParameters& parameters,
                                FrameStore& store, DropSink& drops);

  bool dropping() const { return dropping_; }
  uint32_t count() const { return count_; }
  Instant drop_next() const { return drop_next_; }

 private:
  struct Taken {
    std::optional<Packet> packet;
    bool ok_to_drop = false;
  };

  // Takes the next packet and determines whether it may be dropped: `dodequeue`, RFC 8289 section
  // 5.6.
  template <class Queue>
  Taken Take(Queue& queue, Instant now, const CodelParameters& parameters);
  bool IsAboveForLong(Duration sojourn, uint64_t bytes, Instant now,
                      const CodelParameters& parameters);
  void Enter(Instant now, Duration interval);
  // Returns the instant of the next drop: `control_law` of RFC 8289. IEEE division and square root
  // give the same result on every machine.
  static Instant ControlLaw(Instant t, Duration interval, uint32_t count) {
    return t + Duration::Nanoseconds(static_cast<int64_t>(
                   static_cast<double>(interval.nanoseconds()) / std::sqrt(count)));
  }

  uint32_t max_packet_;
  // The instant at which the sojourn time will have exceeded the target for an interval.
  std::optional<Instant> first_above_;
  Instant drop_next_;
  uint32_t count_ = 0;       // drops since dropping began
  uint32_t last_count_ = 0;  // count_ when dropping began
  bool dropping_ = false;
};

template <class Queue>
Codel::Taken Codel::Take(Queue& queue, Instant now, const CodelParameters& parameters) {
  Taken taken{queue.TakeFront()};
  if (taken.packet) {
    taken.ok_to_drop = IsAboveForLong(now - taken.packet->ready, queue.bytes(), now, parameters);
  } else if (queue.Empty()) {
    first_above_.reset();
  }
  return taken;
}

template <class Queue>
std::optional<Packet> Codel::Dequeue(Queue& queue, Instant now, const CodelParameters& parameters,
                                     FrameStore& store, DropSink& drops) {
  Taken taken = Take(queue, now, parameters);
  if (dropping_) {
    if (!taken.ok_to_drop && (taken.packet || queue.Empty())) dropping_ = false;
    while (dropping_ && taken.packet && now >= drop_next_) {
      ++count_;
      if (parameters.ecn && Mark(*taken.packet, store)) {
        drop_next_ = ControlLaw(drop_next_, parameters.interval, count_);
        break;
      }
      drops.Drop(*taken.packet, Fate::kAqm, now);
      taken = Take(queue, now, parameters);
      if (!taken.ok_to_drop && (taken.packet || queue.Empty())) {
        dropping_ = false;
      } else {
        drop_next_ = ControlLaw(drop_next_, parameters.interval, count_);
      }
    }
  } else if (taken.ok_to_drop) {
    if (!parameters.ecn || !Mark(*taken.packet, store)) {
      drops.Drop(*taken.packet, Fate::kAqm, now);
      taken = Take(queue, now, parameters);
    }
    Enter(now, parameters.interval);
  }
  return taken.packet;
}

}  // namespace viaduct::path
