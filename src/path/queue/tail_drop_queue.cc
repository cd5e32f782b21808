#include "path/queue/tail_drop_queue.h"

namespace viaduct::path {

void TailDropQueue::Enqueue(Packet packet, Instant now, DropSink& drops) {
  if (!Fits(packet)) return drops.Drop(packet, Fate::kQueueFull, now);
  Append(packet, now, drops);
}

}  // namespace viaduct::path
