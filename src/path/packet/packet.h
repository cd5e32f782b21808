// The metadata that the stages of a pipeline handle for a frame. The frame's bytes stay in a
// FrameStore, so that one pipeline implementation carries frames in a memory pool (engine), on disk
// (engine) and ns-3 packets (simulation).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "base/time.h"

namespace viaduct::path {

// A number that identifies a frame in a FrameStore. The holder owns the frame and releases it with
// FrameStore::Free().
using FrameHandle = uint32_t;
inline constexpr FrameHandle kNoFrame = UINT32_MAX;

struct Packet {
  FrameHandle frame = 0;
  uint32_t bytes = 0;  // from the destination MAC to the end of the payload, without FCS
  // The packet's number: 1, 2, 3... in the order of arrival; a duplicate has the number of its
  // original.
  uint64_t number = 0;
  Instant arrived;  // instant at which the packet entered the pipeline
  // The instant at which the previous stage released the packet. In a queue: when the packet was
  // enqueued; in the delay stage: when the packet is due at the far end.
  Instant ready;
  // A number that the delay stage gives to each packet that enters, and that orders packets due at
  // one instant. Before that, in a shared link: the number of the link's user that sent the packet.
  uint32_t turn = 0;
  bool duplicate = false;
  bool corrupted = false;  // bits were flipped
  bool marked = false;     // ECN CE was set in the pipeline
};
static_assert(std::is_trivially_copyable_v<Packet> && sizeof(Packet) == 40);

// Returns whether turn `a` precedes turn `b`. Turns wrap around, and fewer than 2^31 packets are
// under way at a time.
inline bool TurnBefore(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) < 0; }

// Holds the frames' bytes. Stages that need no bytes never call the store.
class FrameStore {
 public:
  virtual ~FrameStore() = default;
  // Returns the complete frame, destination MAC first; writable; valid until the frame is freed or
  // another function of the store is called.
  virtual std::span<std::byte> Bytes(FrameHandle frame) = 0;
  // Creates a new frame with the same bytes; returns nothing when memory is exhausted.
  virtual std::optional<FrameHandle> Clone(FrameHandle frame) = 0;
  // Writes the transport checksum that a sender left to hardware (CHECKSUM_PARTIAL), if any, and
  // marks the checksum complete. Must be called before bits are flipped, so that the receiver can
  // detect the damage.
  virtual void CompleteChecksum(FrameHandle frame) = 0;
  virtual void Free(FrameHandle frame) = 0;
};

// A first-in-first-out queue, in which rate queues and order-preserving delay lines hold waiting
// packets. By default the queue is in memory (path/packet/memory_fifo.h); the engine provides a
// queue whose middle is on disk.
class Fifo {
 public:
  virtual ~Fifo() = default;
  // Appends a packet. Returns false if there is no space (memory limit, disk full, disk too slow);
  // the caller then keeps the packet.
  virtual bool Push(const Packet& packet) = 0;
  // If Push() has returned false, returns whether the reason was a disk (Fate::kDiskBehind) and not
  // memory.
  virtual bool DiskBehind() const { return false; }
  // Returns the oldest packet; nullptr when the queue is empty, or when the oldest packet is still
  // being read from disk (see Empty).
  virtual const Packet* Front() = 0;
  virtual void PopFront() = 0;  // requires Front() != nullptr; the caller then owns the frame
  virtual bool Empty() const = 0;
  virtual uint64_t packets() const = 0;
  virtual uint64_t bytes() const = 0;
};

}  // namespace viaduct::path
