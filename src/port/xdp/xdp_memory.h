// The memory into which AF_XDP sockets receive and from which they send (the kernel's UMEM), in
// chunks of one frame or part of a frame.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"

namespace viaduct::io {

// The memory of AF_XDP ports. If one thread uses several ports of one process, these ports may
// share an XdpMemory: a frame then passes from one port to another without being copied
// (XdpPort::Keep()). The kernel does not know of the sharing: each port registers the memory
// separately, and the kernel counts it as locked memory for each port.
class XdpMemory {
 public:
  // The space that the kernel leaves before a frame for XDP programs (XDP_PACKET_HEADROOM of
  // linux/bpf.h).
  static constexpr uint32_t kHeadroom = 256;

  // Allocates the memory. `chunk_bytes`: 2048 or 4096. Throws SystemError.
  XdpMemory(uint32_t chunks, uint32_t chunk_bytes)
      : bytes_(size_t{chunks} * chunk_bytes), chunk_bytes_(chunk_bytes) {
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) throw SystemError("map memory for AF_XDP", errno);
    // Excludes the memory from forked processes: they would at once get a copy of memory that the
    // kernel has pinned.
    madvise(memory, bytes_, MADV_DONTFORK);
    memory_ = static_cast<std::byte*>(memory);
    free_.reserve(chunks);
    for (uint32_t i = chunks; i > 0; --i) free_.push_back(uint64_t{i - 1} * chunk_bytes);
  }
  XdpMemory(const XdpMemory&) = delete;
  XdpMemory& operator=(const XdpMemory&) = delete;
  ~XdpMemory() { munmap(memory_, bytes_); }

  std::byte* data() const { return memory_; }
  size_t bytes() const { return bytes_; }
  uint32_t chunk_bytes() const { return chunk_bytes_; }
  // Returns the capacity of a chunk for a frame or a part of a frame, in bytes.
  uint32_t room() const { return chunk_bytes_ - kHeadroom; }
  size_t available() const { return free_.size(); }

  // Takes a free chunk. Returns its address, which is its offset in the memory; nothing if no chunk
  // is free.
  std::optional<uint64_t> Take() {
    if (free_.empty()) return std::nullopt;
    const uint64_t address = free_.back();
    free_.pop_back();
    return address;
  }
  // Returns a chunk to the free chunks. `address`: any address in the chunk.
  void Give(uint64_t address) { free_.push_back(address / chunk_bytes_ * chunk_bytes_); }

 private:
  std::byte* memory_ = nullptr;
  size_t bytes_;
  uint32_t chunk_bytes_;
  std::vector<uint64_t> free_;  // the last returned chunk is taken first, because it is cached
};

}  // namespace viaduct::io
