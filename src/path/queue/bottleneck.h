// The rate stage of a pipeline: a queue discipline in front of a link. A bottleneck joins the
// discipline and the link so that all events occur at the model's instants: a transmission starts
// when the link is free and a packet waits, regardless of the instant at which the caller polls.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "path/queue/queue_discipline.h"
#include "path/queue/rate_server.h"

namespace viaduct::path {

// The packet being sent is not in the queue: a limit of 10 packets means 10 waiting packets.
class Bottleneck {
 public:
  Bottleneck(std::unique_ptr<QueueDiscipline> queue, std::unique_ptr<RateServer> link);

  // Sets the instant at which the link begins to exist, time 0 of a trace; without this call, the
  // link begins with the first packet.
  void Begin(Instant now);
  // Takes a packet that arrives at `now` (or the queue drops the packet). Pop must have returned
  // nothing for `now` before: at the same instant, departures make space for arrivals.
  void Push(Packet packet, Instant now, DropSink& drops);
  // Returns the instant at which Pop has something to do next; Never when no packet waits or the
  // bottleneck is Stalled.
  Instant NextEvent() const { return Stalled() ? Instant::Never() : next_; }
  // Returns the next packet whose last bit has left by `now`, in order; packet.ready is the instant
  // at which the packet left.
  std::optional<Packet> Pop(Instant now, DropSink& drops);
  // Returns whether the next packet to send is still being read from disk; Pop must be called again
  // when the packet is in memory. Its transmission starts as if the packet had been in memory in
  // time.
  bool Stalled() const { return state_ == State::kStarting && queues_.front()->Stalled(); }

  // Replaces the link from `now` on. The packet being sent keeps its end of transmission; all other
  // packets are sent at the new rate. Pop must have returned nothing for `now` before, as for Push.
  void ChangeLink(std::unique_ptr<RateServer> link, Instant now);
  // Replaces the discipline: from `now` on, arrivals wait in the new discipline. Packets that
  // already wait leave first, under the rules of the old discipline, and do not count for the limit
  // of the new discipline.
  void ChangeQueue(std::unique_ptr<QueueDiscipline> queue, Instant now);

  // The numbers of packets and bytes include the waiting packets and the packet being sent.
  uint64_t packets() const;
  uint64_t bytes() const;

 private:
  enum class State : uint8_t { kIdle, kStarting, kSending };
  bool Waiting() const;
  void Become(State state, Instant next);
  void StartSending(DropSink& drops);
  void TellRate(Instant now);

  std::deque<std::unique_ptr<QueueDiscipline>> queues_;  // newest last; arrivals wait in the newest
  std::unique_ptr<RateServer> link_;
  State state_ = State::kIdle;
  bool begun_ = false;
  // Whether the packet being sent is on the old link, so that link_ has sent no packet yet.
  bool fresh_ = false;
  Instant next_ = Instant::Never();  // kStarting: start of the transmission; kSending: its end
  Packet sending_;
  int64_t rate_ = 0;  // rate last passed to the newest queue
};

}  // namespace viaduct::path
