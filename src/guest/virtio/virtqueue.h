// A split virtqueue, as the device uses it (Virtual I/O Device 1.2, section 2.7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "guest/virtio/guest_memory.h"

namespace viaduct::guest {

// The device's side of a queue. The driver is not trusted: indices, addresses and chains are
// checked, and an invalid one throws Error. `memory` must outlive the queue.
class Virtqueue {
 public:
  // The maximum number of entries. virtio_uml's queues have 256 entries; queues of other drivers
  // seldom have more than this maximum.
  static constexpr uint32_t kMaxSize = 1024;

  explicit Virtqueue(const GuestMemory& memory) : memory_(&memory) {}

  // Sets the number of entries. `size` must be a power of two and at most kMaxSize; throws Error
  // otherwise.
  void SetSize(uint32_t size);
  // Sets the index in the available ring at which the device continues.
  void SetBase(uint16_t index) {
    next_available_ = next_used_ = index;
    spare_.clear();
  }
  // Sets the guest addresses of the queue's three parts; SetSize() must be called before.
  void SetAddresses(uint64_t descriptors, uint64_t available, uint64_t used);
  // Clears the queue's addresses, because the memory to which they refer is about to be replaced.
  void Unmap() {
    descriptors_ = available_ = used_ = {};
    spare_.clear();
  }
  void SetEnabled(bool enabled) { enabled_ = enabled; }
  bool ready() const { return enabled_ && !used_.empty(); }

  // Takes the next chain of descriptors that the driver has made available; returns nullopt if
  // there is none. Throws Error if the driver makes more chains available than it has descriptors.
  std::optional<uint16_t> Take();
  // Takes the chain that was made available last, for queues whose buffers are all alike. The
  // memory that the driver uses stays small and in the cache: the driver has just used the pages of
  // that buffer, whereas in the order of the ring each frame would use the pages that have been
  // idle for the longest time. (A device may use buffers in any order, section 2.7 of the
  // specification.) Must not be mixed with Take().
  std::optional<uint16_t> TakeNewest();
  // Puts back an unused chain that TakeNewest() returned: it is the newest chain again.
  void PutBack(uint16_t head) { spare_.push_back(head); }
  // Appends the buffers of a chain to `buffers`, in order: the buffers that the device reads or, if
  // `writable`, the buffers that the device writes.
  void Buffers(uint16_t head, bool writable, std::vector<std::span<std::byte>>& buffers) const;
  // Returns a chain, of which `written` bytes are filled, to the driver. The driver sees chains
  // that Stage() has returned only after Publish(), all at once.
  void Stage(uint16_t head, uint32_t written);
  void Publish();
  // Returns the number of chains that were taken and have not been returned.
  uint16_t Taken() const { return static_cast<uint16_t>(next_available_ - next_used_); }
  // Informs the driver that it need not notify the device of new buffers (VIRTQ_USED_F_NO_NOTIFY).
  void RefuseKicks();
  // Returns whether the driver wants interrupts (VIRTQ_AVAIL_F_NO_INTERRUPT is not set).
  bool WantsInterrupt() const;

 private:
  uint16_t AvailableIndex() const;
  // Returns the number of chains that the driver has made available and that were not taken.
  size_t Available() const;

  const GuestMemory* memory_;
  uint32_t size_ = 0;
  bool enabled_ = false;
  uint16_t next_available_ = 0;
  uint16_t next_used_ = 0;
  std::vector<uint16_t> spare_;  // the chains that TakeNewest() took from the ring, newest last
  std::span<std::byte> descriptors_;
  std::span<std::byte> available_;
  std::span<std::byte> used_;
};

}  // namespace viaduct::guest
