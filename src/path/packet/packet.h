// What the stages of a pipeline know of a frame. Its bytes stay in a FrameStore, so that one
// implementation carries frames of a pool (engine), of disk (engine) and ns-3 packets (simulation).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "base/time.h"

namespace viaduct::path {

// Names a frame in a FrameStore. Owned by whoever holds it; given back with FrameStore::Free().
using FrameHandle = uint32_t;
inline constexpr FrameHandle kNoFrame = UINT32_MAX;

struct Packet {
  FrameHandle frame = 0;
  uint32_t bytes = 0;   // from the destination MAC to the end of the payload, without FCS
  uint64_t number = 0;  // 1, 2, 3... in order of arrival; a duplicate has its original's
  Instant arrived;      // when it entered the pipeline
  Instant ready;        // when the last stage let it go (queue: enqueued; delay: to be delivered)
  uint32_t turn = 0;    // counts entries to the delay stage; orders those due at one instant
  bool duplicate = false;
  bool corrupted = false;  // bits were flipped
  bool marked = false;     // ECN CE was set here
};
static_assert(std::is_trivially_copyable_v<Packet> && sizeof(Packet) == 40);

// Whether turn a came before b; turns wrap, and less than 2^31 packets are under way at a time.
inline bool TurnBefore(uint32_t a, uint32_t b) { return static_cast<int32_t>(a - b) < 0; }

// Where the bytes are. Every stage that needs no bytes never calls it.
class FrameStore {
 public:
  virtual ~FrameStore() = default;
  // The whole frame, destination MAC first; writable; valid until the frame is freed or another
  // call on the store.
  virtual std::span<std::byte> Bytes(FrameHandle frame) = 0;
  // A frame of its own with the same bytes; none when memory is exhausted.
  virtual std::optional<FrameHandle> Clone(FrameHandle frame) = 0;
  // Writes the transport checksum that a sender left to hardware (CHECKSUM_PARTIAL), if any, and
  // forgets the offer: called before bits are flipped, so that the receiver sees the damage.
  virtual void CompleteChecksum(FrameHandle frame) = 0;
  virtual void Free(FrameHandle frame) = 0;
};

// First in, first out: where rate queues and delay lines that keep order hold what waits. In memory
// by default (path/memory_fifo.h); the engine brings one whose middle lies on disk.
class Fifo {
 public:
  virtual ~Fifo() = default;
  // False: no room (memory limit, disk full, disk too slow); the packet stays the caller's.
  virtual bool Push(const Packet& packet) = 0;
  // After Push() was false: whether a disk was the reason (Fate::kDiskBehind), and not memory.
  virtual bool DiskBehind() const { return false; }
  // The oldest; nullptr when empty, or when the oldest is still on its way from disk (see Empty).
  virtual const Packet* Front() = 0;
  virtual void PopFront() = 0;  // Front() was not nullptr; its frame is now the caller's
  virtual bool Empty() const = 0;
  virtual uint64_t packets() const = 0;
  virtual uint64_t bytes() const = 0;
};

}  // namespace viaduct::path
