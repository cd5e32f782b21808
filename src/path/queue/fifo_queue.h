// What every discipline with one queue is built on: a Fifo with a limit.
#pragma once

#include <memory>

#include "path/queue/queue_limit.h"

namespace viaduct::path {

class FifoQueue : public QueueDiscipline {
 public:
  void SetRate(int64_t rate) override { limit_.SetRate(rate); }
  bool Empty() const override { return fifo_->Empty(); }
  bool Stalled() const override { return !fifo_->Empty() && fifo_->Front() == nullptr; }
  uint64_t packets() const override { return fifo_->packets(); }
  uint64_t bytes() const override { return fifo_->bytes(); }

 protected:
  FifoQueue(std::unique_ptr<Fifo> fifo, Queue limit) : fifo_(std::move(fifo)), limit_(limit) {}

  bool Fits(const Packet& packet) const {
    return limit_.Fits(fifo_->packets(), fifo_->bytes(), packet);
  }
  // Takes the packet, or drops it where the Fifo has no room.
  void Append(Packet packet, Instant now, DropSink& drops) {
    packet.ready = now;
    if (fifo_->Push(packet)) return;
    drops.Drop(packet, fifo_->DiskBehind() ? Fate::kDiskBehind : Fate::kNoMemory, now);
  }
  // The oldest; none when there is none, or when it is still on its way from disk.
  std::optional<Packet> TakeFront() {
    const Packet* const front = fifo_->Front();
    if (front == nullptr) return std::nullopt;
    const Packet packet = *front;
    fifo_->PopFront();
    return packet;
  }

 private:
  std::unique_ptr<Fifo> fifo_;
  QueueLimit limit_;
};

}  // namespace viaduct::path
