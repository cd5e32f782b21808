// Utilities for tests of queues and links: packets with a number and a size, real frames, recorded
// drops.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "path/packet/fate.h"
#include "path/packet/memory_fifo.h"
#include "path/packet/packet.h"
#include "path/queue/bottleneck.h"

namespace viaduct::path::test {

inline Instant At(int64_t nanoseconds) { return Instant::FromNanoseconds(nanoseconds); }
inline Instant AtMs(int64_t milliseconds) { return At(milliseconds * 1000000); }
inline QueueSize Packets(int64_t n) { return QueuePackets(n); }
inline QueueSize QueueBytes(int64_t n) { return {QueueSize::Unit::kBytes, n}; }

// Keeps frames until they are freed; counts the frames that are left.
class Frames : public FrameStore {
 public:
  FrameHandle Add(std::vector<std::byte> bytes) {
    frames_[++last_] = std::move(bytes);
    return last_;
  }
  std::span<std::byte> Bytes(FrameHandle frame) override { return frames_.at(frame); }
  std::optional<FrameHandle> Clone(FrameHandle frame) override { return Add(frames_.at(frame)); }
  void CompleteChecksum(FrameHandle) override {}
  void Free(FrameHandle frame) override { frames_.erase(frame); }
  size_t count() const { return frames_.size(); }

 private:
  std::map<FrameHandle, std::vector<std::byte>> frames_;
  FrameHandle last_ = 0;
};

// Returns the setup of a discipline in memory.
inline QueueSetup InMemory(QueueSize limit, FrameStore& frames,
                           RandomStream random = {1, "queue"}) {
  return {limit, frames, random, {}};
}
// Returns the setup of a discipline whose Fifo is supplied by the test.
inline QueueSetup SetupOn(std::unique_ptr<Fifo> fifo, QueueSize limit, FrameStore& frames) {
  QueueSetup setup = InMemory(limit, frames);
  setup.make_fifo = [fifo = std::make_shared<std::unique_ptr<Fifo>>(std::move(fifo))] {
    return std::move(*fifo);
  };
  return setup;
}
// Returns the setup of a discipline that reads no frame.
inline QueueSetup InMemory(QueueSize limit) {
  static Frames none;
  return InMemory(limit, none);
}

class Drops : public DropSink {
 public:
  struct Dropped {
    uint64_t number;
    Fate cause;
    Instant at;
    friend bool operator==(const Dropped&, const Dropped&) = default;
  };
  void Drop(const Packet& packet, Fate cause, Instant at) override {
    all.push_back({packet.number, cause, at});
  }
  std::vector<uint64_t> numbers() const {
    std::vector<uint64_t> result;
    for (const Dropped& dropped : all) result.push_back(dropped.number);
    return result;
  }
  std::vector<Dropped> all;
};

inline Packet MakePacket(uint64_t number, uint32_t bytes, FrameHandle frame = 0) {
  Packet packet;
  packet.frame = frame;
  packet.bytes = bytes;
  packet.number = number;
  return packet;
}

// A Fifo whose packets are on disk until `arrived` is set.
class SlowFifo : public MemoryFifo {
 public:
  const Packet* Front() override { return arrived ? MemoryFifo::Front() : nullptr; }
  bool arrived = false;
};

}  // namespace viaduct::path::test
