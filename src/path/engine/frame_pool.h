// The memory of waiting frames: fixed slots in huge pages, under a limit that all pools of an
// engine share.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/wire/link_tag.h"
#include "path/packet/packet.h"

namespace viaduct::engine {

// The memory in bytes that is still available below a limit. May be used by any thread.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t bytes) : left_(bytes) {}
  bool Take(int64_t bytes);
  void Give(int64_t bytes) { left_.fetch_add(bytes, std::memory_order_relaxed); }
  int64_t left() const { return left_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> left_;
};

// A store of frames in slots, for use by one thread. It takes memory from the budget in chunks on
// demand and keeps the memory. In a slot, space for a tag precedes the frame's bytes. Checksums are
// complete (the engine completes them as frames arrive, when the bytes are in the cache anyway).
class FramePool final : public path::FrameStore {
 public:
  // The memory that a waiting frame needs in addition to its bytes: the slot's header, and the
  // records in queues and timing wheels (included so that the limit covers all memory).
  static constexpr size_t kOverhead = 128;

  // `frame_bytes`: the maximum length of a frame. `limit`: the initial size of the budget in bytes,
  // which is also the maximum that a pool can hold. Throws UsageError if not even one frame fits in
  // the limit, or SystemError.
  FramePool(MemoryBudget& budget, int64_t limit, size_t frame_bytes);
  ~FramePool() override;
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;

  // Takes memory for `bytes` bytes of frames in advance, up to the available budget, so that the
  // first frames do not wait for page faults.
  void Prepare(int64_t bytes);
  // Creates a frame with these bytes; returns nothing when memory is exhausted.
  std::optional<path::FrameHandle> Add(std::span<const std::byte> frame, const wire::LinkTag& tag);
  // Returns the tag that Tagged() adds when the frame leaves.
  wire::LinkTag& Tag(path::FrameHandle frame) { return HeaderOf(frame).tag; }
  // Adds the tag and returns the frame to be sent. Afterwards the frame may only be sent again, or
  // freed.
  std::span<const std::byte> Tagged(path::FrameHandle frame);

  std::span<std::byte> Bytes(path::FrameHandle frame) override;
  std::optional<path::FrameHandle> Clone(path::FrameHandle frame) override;
  void CompleteChecksum(path::FrameHandle) override {}
  void Free(path::FrameHandle frame) override { free_.push_back(frame); }

  size_t frame_bytes() const { return frame_bytes_; }
  int64_t SlotCost() const { return static_cast<int64_t>(stride_ + kOverhead); }
  // Returns the bytes of the slots in use.
  int64_t UsedBytes() const;
  // Returns the bytes that Add() could still use: the free slots and the available budget (which
  // other pools may take).
  int64_t FreeBytes() const;

 private:
  struct Header {
    uint32_t bytes = 0;
    wire::LinkTag tag;
    bool tagged = false;  // `tag` has been added to the frame's bytes
  };
  static constexpr size_t kData = 32;  // offset of the frame in a slot, in bytes
  static_assert(sizeof(Header) + wire::LinkTag::kSize <= kData);

  std::byte* Slot(path::FrameHandle frame) const { return memory_ + size_t{frame} * stride_; }
  Header& HeaderOf(path::FrameHandle frame) const {
    return *reinterpret_cast<Header*>(Slot(frame));
  }
  bool Grow();
  std::optional<path::FrameHandle> Take();

  MemoryBudget& budget_;
  size_t frame_bytes_;
  size_t stride_;
  size_t capacity_;    // slots that the limit allows
  size_t chunk_;       // slots taken from the budget at a time
  size_t slots_ = 0;   // slots taken from the budget so far
  size_t mapped_ = 0;  // bytes of mapped memory
  std::byte* memory_ = nullptr;
  std::vector<path::FrameHandle> free_;  // the slot freed last is used first: it is in the cache
};

}  // namespace viaduct::engine
