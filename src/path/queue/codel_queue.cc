#include "path/queue/codel_queue.h"

namespace viaduct::path {

void CodelQueue::Enqueue(Packet packet, Instant now, DropSink& drops) {
  if (!Fits(packet)) return drops.Drop(packet, Fate::kQueueFull, now);
  Append(packet, now, drops);
}

std::optional<Packet> CodelQueue::Dequeue(Instant now, DropSink& drops) {
  return codel_.Dequeue(*this, now, parameters_, store_, drops);
}

}  // namespace viaduct::path
