// CoDel (RFC 8289): drops or marks at the head, by how long packets have waited.
#pragma once

#include "path/queue/codel.h"
#include "path/queue/fifo_queue.h"

namespace viaduct::path {

class CodelQueue : public FifoQueue {
 public:
  // The RFC gives no limit; 1000 packets are the kernel's (net/sched/sch_codel.c).
  static constexpr Queue kDefaultLimit{.unit = Queue::Unit::kPackets, .amount = 1000};

  CodelQueue(std::unique_ptr<Fifo> fifo, Queue limit, CodelParameters parameters, FrameStore& store)
      : FifoQueue(std::move(fifo), limit), parameters_(parameters), store_(store) {}
  void Enqueue(Packet packet, Instant now, DropSink& drops) override;
  std::optional<Packet> Dequeue(Instant now, DropSink& drops) override;

  using FifoQueue::TakeFront;  // for Codel
  const Codel& codel() const { return codel_; }

 private:
  CodelParameters parameters_;
  FrameStore& store_;
  Codel codel_;
};

}  // namespace viaduct::path
