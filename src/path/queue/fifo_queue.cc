#include "path/queue/fifo_queue.h"

namespace viaduct::path {

void HeadDropQueue::Enqueue(Packet packet, Instant now, DropSink& drops) {
  while (!Fits(packet)) {
    const auto oldest = TakeFront();
    if (!oldest) return drops.Drop(packet, Fate::kQueueFull, now);
    drops.Drop(*oldest, Fate::kQueueFull, now);
  }
  Append(packet, now, drops);
}

}  // namespace viaduct::path
