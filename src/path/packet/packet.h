// The metadata that the stages of a pipeline handle for a frame. Its bytes stay in a FrameStore, so
// that one implementation carries frames in a memory pool (engine), on disk (engine) and ns-3
// packets (simulation).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "base/time.h"

namespace viaduct::path {

// Identifies a frame in a FrameStore. Owned by its holder; released with FrameStore::Free().
using FrameHandle = uint32_t;
inline constexpr FrameHandle kNoFrame = UINT32_MAX;

struct Packet {
  FrameHandle frame = 0;
  uint32_t bytes = 0;   // from the destination MAC to the end of the payload, without FCS
  uint64_t number = 0;  // 1, 2, 3... in order of arrival; a duplicate has its original's
  Instant arrived;      // when it entered the pipeline
  Instant ready;        // when the last stage released it (queue: enqueued; delay: to be delivered)
  // Counts entries to the delay stage, which orders those due at one instant; before, in a shared
  // link, the number of its user.
  uint32_t turn = 0;
  bool duplicate = false;
  bool corrupted = false;  // bits were flipped
  bool marked = false;     // ECN CE was set here
};
static_assert(std::is_trivially_copyable_v<Packet> && sizeof(Packet) == 40);

// Returns whether turn a precedes b; turns wrap, and less than 2^31 packets are under way at a
// time.
inline bool TurnBefore(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) < 0; }

// Holds the frames' bytes. Stages that need no bytes never call it.
class FrameStore {
 public:
  virtual ~FrameStore() = default;
  // The whole frame, destination MAC first; writable; valid until the frame is freed or another
  // call on the store.
  virtual std::span<std::byte> Bytes(FrameHandle frame) = 0;
  // Creates a new frame with the same bytes; returns nothing when memory is exhausted.
  virtual std::optional<FrameHandle> Clone(FrameHandle frame) = 0;
  // Writes the transport checksum that a sender left to hardware (CHECKSUM_PARTIAL), if any, and
  // marks it complete. It is called before bits are flipped, so that the receiver can detect the
  // damage.
  virtual void CompleteChecksum(FrameHandle frame) = 0;
  virtual void Free(FrameHandle frame) = 0;
};

// A first-in-first-out queue, in which rate queues and order-preserving delay lines hold waiting
// packets. In memory by default (path/packet/memory_fifo.h); the engine provides one whose middle
// is on disk.
class Fifo {
 public:
  virtual ~Fifo() = default;
  // Returns false if there is no space (memory limit, disk full, disk too slow); the caller then
  // keeps the packet.
  virtual bool Push(const Packet& packet) = 0;
  // After Push() returned false: whether a disk was the reason (Fate::kDiskBehind), and not memory.
  virtual bool DiskBehind() const { return false; }
  // The oldest packet; nullptr when empty, or when the oldest is still being read from disk (see
  // Empty).
  virtual const Packet* Front() = 0;
  virtual void PopFront() = 0;  // Front() was not nullptr; the caller now owns its frame
  virtual bool Empty() const = 0;
  virtual uint64_t packets() const = 0;
  virtual uint64_t bytes() const = 0;
};

}  // namespace viaduct::path
