// A Fifo with a limit: tail drop, head drop, and the base of every discipline with a single queue.
#pragma once

#include <memory>

#include "path/packet/memory_fifo.h"
#include "path/queue/queue_limit.h"

namespace viaduct::path {

// Tail drop: a packet that arrives at a full queue is dropped.
class FifoQueue : public QueueDiscipline {
 public:
  // The default of ns-3's DropTailQueue.
  static constexpr QueueSize kDefaultLimit = QueuePackets(100);

  explicit FifoQueue(const QueueSetup& setup) : fifo_(MakeFifo(setup.make_fifo)), limit_(setup) {}
  void Enqueue(Packet packet, Instant now, DropSink& drops) override {
    if (!Fits(packet)) return drops.Drop(packet, Fate::kQueueFull, now);
    Append(packet, now, drops);
  }
  std::optional<Packet> Dequeue(Instant, DropSink&) override { return TakeFront(); }
  void SetRate(int64_t rate) override { limit_.SetRate(rate); }
  bool Empty() const override { return fifo_->Empty(); }
  bool Stalled() const override { return !fifo_->Empty() && fifo_->Front() == nullptr; }
  uint64_t packets() const override { return fifo_->packets(); }
  uint64_t bytes() const override { return fifo_->bytes(); }

 protected:
  bool Fits(const Packet& packet) const {
    return limit_.Fits(fifo_->packets(), fifo_->bytes(), packet, on_link_);
  }
  // Appends the packet, or drops it if the Fifo is full.
  void Append(Packet packet, Instant now, DropSink& drops) {
    packet.ready = now;
    if (fifo_->Push(packet)) {
      on_link_ += limit_.OnLink(packet);
      return;
    }
    drops.Drop(packet, fifo_->DiskBehind() ? Fate::kDiskBehind : Fate::kNoMemory, now);
  }
  // Removes and returns the oldest packet; returns nothing when there is none, or when it is still
  // being read from disk.
  std::optional<Packet> TakeFront() {
    const Packet* const front = fifo_->Front();
    if (front == nullptr) return std::nullopt;
    const Packet packet = *front;
    fifo_->PopFront();
    on_link_ -= limit_.OnLink(packet);
    return packet;
  }

 private:
  std::unique_ptr<Fifo> fifo_;
  QueueLimit limit_;
  uint64_t on_link_ = 0;  // bytes of the waiting packets on the link
};

// Head drop: a full queue drops its oldest packets to make space for arrivals, so that the packets
// sent are recent (and a sender detects the loss earlier).
class HeadDropQueue : public FifoQueue {
 public:
  using FifoQueue::FifoQueue;
  // While the oldest packet is still being read from disk it cannot be dropped, so the arriving
  // packet is dropped.
  void Enqueue(Packet packet, Instant now, DropSink& drops) override;
};

}  // namespace viaduct::path
