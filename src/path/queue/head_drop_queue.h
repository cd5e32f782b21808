// Head drop: a full queue drops its oldest packets to make room for what arrives, so that what is
// sent is fresh (and a sender hears of the loss earlier).
#pragma once

#include "path/queue/fifo_queue.h"

namespace viaduct::path {

class HeadDropQueue : public FifoQueue {
 public:
  HeadDropQueue(std::unique_ptr<Fifo> fifo, Queue limit) : FifoQueue(std::move(fifo), limit) {}
  // While the oldest is still on its way from disk it cannot be dropped: then the arrival is.
  void Enqueue(Packet packet, Instant now, DropSink& drops) override;
  std::optional<Packet> Dequeue(Instant, DropSink&) override { return TakeFront(); }
};

}  // namespace viaduct::path
