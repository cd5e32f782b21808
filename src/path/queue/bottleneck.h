// The rate stage of a pipeline: a queue discipline in front of a link. It joins the two so that
// everything happens at the model's own instants: a transmission starts when the link is free and a
// packet waits, however late the caller polls.
#pragma once

#include <deque>
#include <memory>
#include <optional>

#include "path/queue/queue_discipline.h"
#include "path/queue/rate_server.h"

namespace viaduct::path {

// The packet being sent is no longer in the queue: a limit of 10 packets means 10 waiting.
class Bottleneck {
 public:
  Bottleneck(std::unique_ptr<QueueDiscipline> queue, std::unique_ptr<RateServer> link);

  // The link begins to exist, which is time 0 of a trace; without this call it does so with the
  // first packet.
  void Begin(Instant now);
  // Takes a packet that arrives at `now` (or the queue drops it). Pop must have returned nothing
  // for `now` before: at the same instant departures make space for arrivals.
  void Push(Packet packet, Instant now, DropSink& drops);
  // Returns the instant at which Pop has something to do next; Never when nothing waits or the
  // bottleneck is Stalled.
  Instant NextEvent() const { return Stalled() ? Instant::Never() : next_; }
  // The next packet whose last bit has left by `now`, in order; packet.ready is that instant.
  std::optional<Packet> Pop(Instant now, DropSink& drops);
  // Whether the next packet to send is still being read from disk; call Pop again when it has
  // arrived. Its transmission starts as if it had been there in time.
  bool Stalled() const { return state_ == State::kStarting && queues_.front()->Stalled(); }

  // Replaces the link from `now` on. The packet being sent keeps its end of transmission; the rest
  // is sent at the new rate. `now` as in Push.
  void ChangeLink(std::unique_ptr<RateServer> link, Instant now);
  // From `now` on arrivals wait in the new discipline. Packets that wait already leave first, under
  // the rules of the old one, and do not count for the limit of the new one.
  void ChangeQueue(std::unique_ptr<QueueDiscipline> queue, Instant now);

  // Both count the waiting packets and the one that is being sent.
  uint64_t packets() const;
  uint64_t bytes() const;

 private:
  enum class State : uint8_t { kIdle, kStarting, kSending };
  bool Waiting() const;
  void Become(State state, Instant next);
  void StartSending(DropSink& drops);
  void TellRate(Instant now);

  std::deque<std::unique_ptr<QueueDiscipline>> queues_;  // newest last; arrivals go there
  std::unique_ptr<RateServer> link_;
  State state_ = State::kIdle;
  bool begun_ = false;
  bool fresh_ = false;  // link_ has sent nothing yet, and the packet being sent is not on it
  Instant next_ = Instant::Never();  // kStarting: start of the transmission; kSending: its end
  Packet sending_;
  int64_t rate_ = 0;  // last passed to the newest queue
};

}  // namespace viaduct::path
