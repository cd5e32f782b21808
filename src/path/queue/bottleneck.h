// The rate stage of a pipeline: a queue discipline before a link. Joins the two so that everything
// happens at the model's own instants: a transmission starts when the link is free and somebody
// waits, however late the caller polls.
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

  // Takes a packet that arrives at `now` (or the queue drops it). Pop has returned nothing for
  // `now` before: at one instant what leaves makes room for what comes.
  void Push(Packet packet, Instant now, DropSink& drops);
  // When Pop has something to do next; Never when nothing waits or the next packet is Stalled.
  Instant NextEvent() const { return Stalled() ? Instant::Never() : next_; }
  // The next packet whose last bit has left by `now`, in order; packet.ready is that instant.
  std::optional<Packet> Pop(Instant now, DropSink& drops);
  // The next packet to send is still on its way from disk; Pop again when it has come. It starts as
  // if it had been there in time.
  bool Stalled() const { return state_ == State::kStarting && queues_.front()->Stalled(); }

  // From `now` on. The packet being sent keeps its finish; the rest goes at the new rate. `now` as
  // in Push.
  void ChangeLink(std::unique_ptr<RateServer> link, Instant now);
  // From `now` on arrivals wait in the new discipline. What waits already leaves first, under the
  // rules of the old one, and does not count for the new one's limit.
  void ChangeQueue(std::unique_ptr<QueueDiscipline> queue, Instant now);

  // Waiting and being sent.
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
  Instant next_ = Instant::Never();  // kStarting: of the transmission; kSending: its end
  Packet sending_;
  int64_t rate_ = 0;  // that the newest queue knows
};

}  // namespace viaduct::path
