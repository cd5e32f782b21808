#include "path/queue/pie_queue.h"

namespace viaduct::path {

void PieQueue::Enqueue(Packet packet, Instant now, DropSink& drops) {
  UpdateUntil(now);
  if (!Fits(packet)) {
    state_.accumulated = 0;
    return drops.Drop(packet, Fate::kQueueFull, now);
  }
  if (control_.Drops(state_, packet, bytes())) return drops.Drop(packet, Fate::kAqm, now);
  Append(packet, now, drops);
}

std::optional<Packet> PieQueue::Dequeue(Instant now, DropSink&) {
  UpdateUntil(now);
  const auto packet = TakeFront();
  if (packet) PieControl::Sent(state_, *packet, Empty(), now);
  return packet;
}

}  // namespace viaduct::path
