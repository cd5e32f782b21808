// Access to a guest's memory for the back ends of its devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/fd.h"
#include "guest/virtio/shared_mapping.h"

namespace viaduct::guest {

// The mapped regions of VHOST_USER_SET_MEM_TABLE. The guest can write to them at any time while it
// runs, so every value must be read once and checked.
class GuestMemory {
 public:
  // Bytes: the parts of a virtqueue are aligned in this process as they are at guest addresses.
  static constexpr uint64_t kAlignment = 16;

  // Maps `size` bytes of `fd` from `file_offset` on, which are at `guest_address` in the guest;
  // both are multiples of kAlignment. Throws Error if they are not or the file is shorter,
  // SystemError when it cannot be mapped.
  void Add(const UniqueFd& fd, uint64_t guest_address, uint64_t size, uint64_t file_offset);
  void Clear() { regions_.clear(); }
  // Returns the bytes at a guest address; throws Error when they are not all within one region.
  std::span<std::byte> At(uint64_t guest_address, uint64_t size) const;
  // Throws Error when memory was missing when it was accessed: what was read before is not the
  // guest's.
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
