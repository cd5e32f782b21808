#include "guest/virtio/guest_memory.h"

#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "base/error.h"

namespace viaduct::guest {

struct GuestMemory::Mapping {
  std::byte* start;
  size_t length;
  Mapping(std::byte* mapped, size_t size) : start(mapped), length(size) {}
  ~Mapping() { munmap(start, length); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
};

void GuestMemory::Add(const UniqueFd& fd, uint64_t guest_address, uint64_t size,
                      uint64_t file_offset) {
  struct stat status;
  SystemCall("fstat a guest's memory", fstat(fd.get(), &status));
  const auto file_size = static_cast<uint64_t>(status.st_size);
  // Beyond the file's end the mapping would raise SIGBUS.
  if (size == 0 || file_offset > file_size || size > file_size - file_offset) {
    throw Error(
        fmt::format("memory of {} bytes at {} in a file of {}", size, file_offset, file_size));
  }
  if (guest_address + size < guest_address)
    throw Error("memory beyond the end of the address space");
  // From the start of the file: offsets need not be multiples of a page.
  const size_t length = file_offset + size;
  void* start = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (start == MAP_FAILED) throw SystemError("map a guest's memory", errno);
  auto mapping = std::make_shared<Mapping>(static_cast<std::byte*>(start), length);
  regions_.push_back({guest_address, size, mapping, mapping->start + file_offset});
}

std::span<std::byte> GuestMemory::At(uint64_t guest_address, uint64_t size) const {
  for (const Region& region : regions_) {
    if (guest_address < region.guest_address) continue;
    const uint64_t offset = guest_address - region.guest_address;
    if (offset <= region.size && size <= region.size - offset) {
      return {region.start + offset, static_cast<size_t>(size)};
    }
  }
  throw Error(fmt::format("address {:#x} (+{}) is outside its memory", guest_address, size));
}

}  // namespace viaduct::guest
