// The fates of packets in a pipeline. Every packet has exactly one fate, and each fate is counted.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "path/packet/packet.h"

namespace viaduct::path {

enum class Fate : uint8_t {
  kDelivered,
  kLost,        // the loss models
  kBadFcs,      // flipped bits, with fcs=drop
  kQueueFull,   // tail or head drop at the queue's limit
  kAqm,         // active queue management
  kNoMemory,    // frame memory at its limit (--memory), with no disk to go to
  kDiskBehind,  // spill to disk could not keep up, or the disk is full
  kNoBinding,   // a NAT had no binding for its port, or no free port
  kRefused,     // after the path: the far interface is down or gone, or its MTU is smaller
  kCount,
};
std::string_view FateName(Fate fate);

struct Counters {
  uint64_t arrived = 0;  // packets pushed
  uint64_t arrived_bytes = 0;
  uint64_t duplicated = 0;  // extra packets made here
  std::array<uint64_t, static_cast<size_t>(Fate::kCount)>
      fates{};  // arrived + duplicated = sum + waiting
  uint64_t delivered_bytes = 0;
  uint64_t corrupted = 0;  // packets with flipped bits (they meet a fate like any other)
  uint64_t flipped_bits = 0;
  uint64_t marked = 0;     // ECN CE set
  uint64_t reordered = 0;  // not delayed by the reorder stage
  uint64_t of(Fate fate) const { return fates[static_cast<size_t>(fate)]; }
  // Removes packets that were delivered to a port but have not left: they still wait.
  void Withdraw(uint64_t packets, uint64_t bytes) {
    fates[static_cast<size_t>(Fate::kDelivered)] -= packets;
    delivered_bytes -= bytes;
  }
  // Counts packets as refused that were delivered to a port, but which it refused.
  void Refuse(uint64_t packets, uint64_t bytes) {
    Withdraw(packets, bytes);
    fates[static_cast<size_t>(Fate::kRefused)] += packets;
  }
};

// Is called with every packet's arrival and fate (for tracing), in the order of time. `at` is the
// model's instant, not a clock's. The frame's bytes are still valid; a packet that was refused for
// lack of memory has none (kNoFrame), and a duplicate that found no memory refers to its
// original's.
class FateObserver {
 public:
  virtual ~FateObserver() = default;
  virtual void OnArrival(const Packet&) {}  // at packet.arrived; before loss and duplication
  virtual void OnFate(const Packet& packet, Fate fate, Instant at) = 0;
};

// Receives the packets that a queue discipline drops: counts them, calls the observer, frees the
// frames.
class DropSink {
 public:
  virtual ~DropSink() = default;
  virtual void Drop(const Packet& packet, Fate cause, Instant at) = 0;
};

}  // namespace viaduct::path
