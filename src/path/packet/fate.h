// The fates of packets in a pipeline. Every packet has exactly one fate, and each fate is counted.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "path/packet/packet.h"

namespace viaduct::path {

enum class Fate : uint8_t {
  kDelivered,
  kLost,        // lost by the loss models
  kBadFcs,      // bits were flipped, with fcs=drop
  kQueueFull,   // tail or head drop at the queue's limit
  kAqm,         // dropped by active queue management
  kNoMemory,    // frame memory was at its limit (--memory), and there was no spill disk
  kDiskBehind,  // spill to disk could not keep up, or the disk is full
  kNoBinding,   // a NAT had no binding for the packet's port, or no free port
  kRefused,     // after the path: the far interface is down or gone, or its MTU is too small
  kCount,
};
std::string_view FateName(Fate fate);

struct Counters {
  uint64_t arrived = 0;  // packets pushed
  uint64_t arrived_bytes = 0;
  uint64_t duplicated = 0;  // copies made by the duplication stage
  std::array<uint64_t, static_cast<size_t>(Fate::kCount)>
      fates{};  // indexed by fate; arrived + duplicated = sum of the fates + waiting
  uint64_t delivered_bytes = 0;
  uint64_t corrupted = 0;  // packets with flipped bits (each also has a fate)
  uint64_t flipped_bits = 0;
  uint64_t marked = 0;     // packets with ECN CE set in the pipeline
  uint64_t reordered = 0;  // packets that the reorder stage let overtake
  uint64_t of(Fate fate) const { return fates[static_cast<size_t>(fate)]; }
  // Withdraws packets that were counted as delivered to a port, but which the port has not sent
  // yet: they still wait.
  void Withdraw(uint64_t packets, uint64_t bytes) {
    fates[static_cast<size_t>(Fate::kDelivered)] -= packets;
    delivered_bytes -= bytes;
  }
  // Counts packets as refused that were first counted as delivered and that the port then refused.
  void Refuse(uint64_t packets, uint64_t bytes) {
    Withdraw(packets, bytes);
    fates[static_cast<size_t>(Fate::kRefused)] += packets;
  }
};

// An observer of every packet's arrival and fate (for tracing), in the order of time. `at` is an
// instant of the model, not of a clock. The frame's bytes are still valid; a packet that was
// refused for lack of memory has no frame (kNoFrame), and a duplicate that found no memory refers
// to the frame of its original.
class FateObserver {
 public:
  virtual ~FateObserver() = default;
  virtual void OnArrival(const Packet&) {}  // at packet.arrived, before loss and duplication
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
