#include "guest/virtio/guest_memory.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <utility>

#include "base/error.h"

namespace viaduct::guest {

void GuestMemory::Add(const UniqueFd& fd, uint64_t guest_address, uint64_t size,
                      uint64_t file_offset) {
  struct stat status;
  SystemCall("fstat a guest's memory", fstat(fd.get(), &status));
  const auto file_size = static_cast<uint64_t>(status.st_size);
  // An access after the end of the file would raise SIGBUS.
  if (size == 0 || file_offset > file_size || size > file_size - file_offset) {
    throw Error(fmt::format("shares memory of {} bytes at offset {} of a file of {} bytes", size,
                            file_offset, file_size));
  }
  if (guest_address + size < guest_address)
    throw Error("shares memory beyond the end of the address space");
  if (guest_address % kAlignment != 0 || file_offset % kAlignment != 0) {
    throw Error(fmt::format("shares memory at {:#x} from offset {}, which is not aligned",
                            guest_address, file_offset));
  }
  // Maps the file from its start, because offsets need not be multiples of the page size.
  auto mapping = std::make_unique<SharedMapping>(fd, file_offset + size);
  std::byte* const start = mapping->start() + file_offset;
  regions_.push_back({guest_address, size, std::move(mapping), start});
}

void GuestMemory::CheckThere() const {
  for (const Region& region : regions_) {
    if (!region.mapping->lost()) continue;
    throw Error(
        "has lost memory that its devices use: the memory file was truncated, or /dev/shm is full");
  }
}

std::span<std::byte> GuestMemory::At(uint64_t guest_address, uint64_t size) const {
  for (const Region& region : regions_) {
    if (guest_address < region.guest_address) continue;
    const uint64_t offset = guest_address - region.guest_address;
    if (offset <= region.size && size <= region.size - offset) {
      return {region.start + offset, static_cast<size_t>(size)};
    }
  }
  throw Error(
      fmt::format("uses address {:#x} (+{}), which is outside its memory", guest_address, size));
}

}  // namespace viaduct::guest
