// A Fifo in memory: a ring that doubles when it is full, so that forwarding a packet allocates no
// memory once the ring is large enough for the packets in the path.
#pragma once

#include <vector>

#include "path/packet/packet.h"
#include "path/packet/pipeline_options.h"

namespace viaduct::path {

class MemoryFifo : public Fifo {
 public:
  bool Push(const Packet& packet) override {
    if (packets_ == ring_.size()) Grow();
    ring_[(first_ + packets_) & (ring_.size() - 1)] = packet;
    ++packets_;
    bytes_ += packet.bytes;
    return true;
  }
  const Packet* Front() override { return packets_ == 0 ? nullptr : &ring_[first_]; }
  void PopFront() override {
    bytes_ -= ring_[first_].bytes;
    first_ = (first_ + 1) & (ring_.size() - 1);
    --packets_;
  }
  bool Empty() const override { return packets_ == 0; }
  uint64_t packets() const override { return packets_; }
  uint64_t bytes() const override { return bytes_; }

 private:
  void Grow() {
    std::vector<Packet> bigger(ring_.empty() ? 64 : ring_.size() * 2);
    for (size_t i = 0; i < packets_; ++i) bigger[i] = ring_[(first_ + i) & (ring_.size() - 1)];
    ring_ = std::move(bigger);
    first_ = 0;
  }

  std::vector<Packet> ring_;  // the size is a power of two, or zero
  size_t first_ = 0;
  size_t packets_ = 0;
  uint64_t bytes_ = 0;
};

// Calls `make` and returns the new Fifo; creates a MemoryFifo if `make` is empty.
inline std::unique_ptr<Fifo> MakeFifo(const FifoMaker& make) {
  return make ? make() : std::make_unique<MemoryFifo>();
}

}  // namespace viaduct::path
