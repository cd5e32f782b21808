// The access of the back ends of a guest's devices to the guest's memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/fd.h"
#include "guest/virtio/shared_mapping.h"

namespace viaduct::guest {

// The mapped regions of VHOST_USER_SET_MEM_TABLE. The guest can write to the regions at any time
// while it runs, so every value must be read once and checked.
class GuestMemory {
 public:
  // The alignment of regions in bytes, which makes the parts of a virtqueue as aligned in this
  // process as they are at guest addresses.
  static constexpr uint64_t kAlignment = 16;

  // Maps the `size` bytes of `fd` that begin at `file_offset`; the guest has these bytes at the
  // address `guest_address`. Both `file_offset` and `guest_address` must be multiples of
  // kAlignment. Throws Error if they are not or if the file is shorter, SystemError if the file
  // cannot be mapped.
  void Add(const UniqueFd& fd, uint64_t guest_address, uint64_t size, uint64_t file_offset);
  void Clear() { regions_.clear(); }
  // Returns the `size` bytes at a guest address; throws Error if the bytes are not all within one
  // region.
  std::span<std::byte> At(uint64_t guest_address, uint64_t size) const;
  // Throws Error if a page of the memory was missing when it was accessed; in that case, the bytes
  // that were read before are not the guest's.
  void CheckThere() const;

 private:
  struct Region {
    uint64_t guest_address;
    uint64_t size;
    std::unique_ptr<SharedMapping> mapping;
    std::byte* start;
  };
  std::vector<Region> regions_;
};

}  // namespace viaduct::guest
