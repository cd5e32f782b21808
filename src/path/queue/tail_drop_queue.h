// Tail drop: what arrives at a full queue is dropped.
#pragma once

#include "path/queue/fifo_queue.h"

namespace viaduct::path {

class TailDropQueue : public FifoQueue {
 public:
  TailDropQueue(std::unique_ptr<Fifo> fifo, Queue limit) : FifoQueue(std::move(fifo), limit) {}
  void Enqueue(Packet packet, Instant now, DropSink& drops) override;
  std::optional<Packet> Dequeue(Instant, DropSink&) override { return TakeFront(); }
};

}  // namespace viaduct::path
