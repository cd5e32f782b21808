// The memory that AF_XDP sockets receive into and send from (the kernel's UMEM), in chunks of one
// frame or part of a frame.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"

namespace viaduct::io {

// May be shared by several ports of one process that one thread serves: then a frame passes from
// one port to another without being copied (XdpPort::Keep()). The kernel does not know of the
// sharing: each port registers the memory as its own, and the kernel counts it for each as locked.
class XdpMemory {
 public:
  // The space that the kernel leaves before a frame for programs (XDP_PACKET_HEADROOM of
  // linux/bpf.h).
  static constexpr uint32_t kHeadroom = 256;

  // `chunk_bytes`: 2048 or 4096. Throws SystemError.
  XdpMemory(uint32_t chunks, uint32_t chunk_bytes)
      : bytes_(size_t{chunks} * chunk_bytes), chunk_bytes_(chunk_bytes) {
    void* const memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) throw SystemError("mmap of memory for AF_XDP", errno);
    // A forked process would at once get a copy of the memory that the kernel has pinned.
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
  // The capacity of a chunk for a frame or a part of one, bytes.
  uint32_t room() const { return chunk_bytes_ - kHeadroom; }
  size_t available() const { return free_.size(); }

  // Takes a chunk. Returns its address: its offset in the memory.
  std::optional<uint64_t> Take() {
    if (free_.empty()) return std::nullopt;
    const uint64_t address = free_.back();
    free_.pop_back();
    return address;
  }
  // Returns a chunk. `address`: anywhere in the chunk.
  void Give(uint64_t address) { free_.push_back(address / chunk_bytes_ * chunk_bytes_); }

 private:
  std::byte* memory_ = nullptr;
  size_t bytes_;
  uint32_t chunk_bytes_;
  std::vector<uint64_t> free_;  // the last chunk returned is the first to be taken: it is cached
};

}  // namespace viaduct::io
