// A split virtqueue, from the device's side (Virtual I/O Device 1.2, section 2.7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "guest/virtio/guest_memory.h"

namespace viaduct::guest {

// The driver is not trusted: indices, addresses and chains are checked, and errors throw Error.
// `memory` must outlive the queue.
class Virtqueue {
 public:
  // virtio_uml has queues of 256; other drivers seldom have larger ones than this.
  static constexpr uint32_t kMaxSize = 1024;

  explicit Virtqueue(const GuestMemory& memory) : memory_(&memory) {}

  // Sets the number of entries. `size` must be a power of two up to kMaxSize; throws Error
  // otherwise.
  void SetSize(uint32_t size);
  // Sets the index at which the available ring continues.
  void SetBase(uint16_t index) {
    next_available_ = next_used_ = index;
    spare_.clear();
  }
  // Sets the guest addresses of the three parts; call SetSize() before.
  void SetAddresses(uint64_t descriptors, uint64_t available, uint64_t used);
  // Clears the addresses because the memory they refer to is about to be replaced.
  void Unmap() {
    descriptors_ = available_ = used_ = {};
    spare_.clear();
  }
  void SetEnabled(bool enabled) { enabled_ = enabled; }
  bool ready() const { return enabled_ && !used_.empty(); }

  // Takes the next chain of descriptors that the driver has made available; returns nullopt when
  // there is none. Throws Error if the driver offers more than it has.
  std::optional<uint16_t> Take();
  // Takes the chain that was made available last, for queues of buffers that are all alike. The
  // driver's memory stays small and in the cache: it has just used that buffer's pages, whereas in
  // the order of the ring each frame would use those that have been idle longest. (A device may use
  // buffers in any order, section 2.7.) Must not be mixed with Take().
  std::optional<uint16_t> TakeNewest();
  // Puts back a chain that TakeNewest() returned, unused: it is the newest again.
  void PutBack(uint16_t head) { spare_.push_back(head); }
  // Appends the buffers of a chain to `buffers`, in order: those that the device reads, or those
  // that it writes (`writable`).
  void Buffers(uint16_t head, bool writable, std::vector<std::span<std::byte>>& buffers) const;
  // Returns a chain with `written` bytes filled. Chains returned with Stage() become visible to the
  // driver with Publish(), all at once.
  void Stage(uint16_t head, uint32_t written);
  void Publish();
  // Returns the number of taken chains that have not been returned.
  uint16_t Taken() const { return static_cast<uint16_t>(next_available_ - next_used_); }
  // Informs the driver that no notifications of new buffers are needed (VIRTQ_USED_F_NO_NOTIFY).
  void RefuseKicks();
  // Returns whether the driver wants to be interrupted (VIRTQ_AVAIL_F_NO_INTERRUPT is not set).
  bool WantsInterrupt() const;

 private:
  uint16_t AvailableIndex() const;
  // Returns the number of chains that Take() would return.
  size_t Available() const;

  const GuestMemory* memory_;
  uint32_t size_ = 0;
  bool enabled_ = false;
  uint16_t next_available_ = 0;
  uint16_t next_used_ = 0;
  std::vector<uint16_t> spare_;  // taken from the ring by TakeNewest(), the newest last
  std::span<std::byte> descriptors_;
  std::span<std::byte> available_;
  std::span<std::byte> used_;
};

}  // namespace viaduct::guest
