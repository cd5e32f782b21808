// The rings that an AF_XDP socket shares with the kernel (linux/if_xdp.h,
// Documentation/networking/af_xdp.rst). One side of a ring produces entries, the other side
// consumes them.
#pragma once

#include <linux/if_xdp.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/error.h"
#include "base/socket_option.h"

namespace viaduct::io {

// One ring of an AF_XDP socket, with entries of type T. Its size is a power of two; indices
// increase and wrap around at 2^32.
template <class T>
class XdpRing {
 public:
  XdpRing() = default;
  // Makes the kernel create the ring (`option`: XDP_RX_RING...), and maps it. `producer`: whether
  // this process produces the entries. Throws SystemError.
  XdpRing(int fd, int option, off_t offset, xdp_ring_offset xdp_mmap_offsets::*member,
          uint32_t size, bool producer)
      : size_(size), is_producer_(producer) {
    SetSocketOption(fd, SOL_XDP, option, static_cast<int>(size), "for the size of an AF_XDP ring");
    xdp_mmap_offsets offsets{};
    socklen_t length = sizeof offsets;
    SystemCall("getsockopt XDP_MMAP_OFFSETS",
               getsockopt(fd, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &length));
    const xdp_ring_offset& at = offsets.*member;
    bytes_ = at.desc + size * sizeof(T);
    void* const memory =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset);
    if (memory == MAP_FAILED) throw SystemError("map an AF_XDP ring", errno);
    memory_ = static_cast<std::byte*>(memory);
    producer_ = reinterpret_cast<uint32_t*>(memory_ + at.producer);
    consumer_ = reinterpret_cast<uint32_t*>(memory_ + at.consumer);
    flags_ = reinterpret_cast<uint32_t*>(memory_ + at.flags);
    entries_ = reinterpret_cast<T*>(memory_ + at.desc);
  }
  XdpRing(XdpRing&& other) noexcept { Swap(other); }
  XdpRing& operator=(XdpRing&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~XdpRing() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
  }

  uint32_t size() const { return size_; }
  // Returns the number of entries that a producer may write and publish, or that a consumer may
  // read and release.
  uint32_t Available() const {
    return is_producer_ ? size_ - (own_ - Load(consumer_)) : Load(producer_) - own_;
  }
  // Returns the available entry with this index.
  T& operator[](uint32_t index) const { return entries_[(own_ + index) & (size_ - 1)]; }
  // Publishes (producer) or releases (consumer) `count` entries.
  void Advance(uint32_t count) {
    own_ += count;
    Publish();
  }
  // Takes back the last `count` entries of a producer, which the kernel must not have read.
  void TakeBack(uint32_t count) {
    own_ -= count;
    Publish();
  }
  // Two positions of a producer's ring: up to where the kernel has read, and up to where this
  // process has written. Both only increase.
  uint32_t consumed() const { return Load(consumer_); }
  uint32_t produced() const { return own_; }
  // Returns the number of entries that a consumer has not released and for which `is_so` is true.
  // Any thread may call this function.
  template <class Predicate>
  uint64_t CountWaiting(Predicate is_so) const {
    uint64_t count = 0;
    const uint32_t first = Load(consumer_), end = Load(producer_);
    for (uint32_t i = first; i != end; ++i) count += is_so(entries_[i & (size_ - 1)]) ? 1 : 0;
    return count;
  }
  // Whether the kernel waits for a system call of this process.
  bool NeedsWakeup() const {
    return (std::atomic_ref(*flags_).load(std::memory_order_relaxed) & XDP_RING_NEED_WAKEUP) != 0;
  }

 private:
  static uint32_t Load(uint32_t* index) {
    return std::atomic_ref(*index).load(std::memory_order_acquire);
  }
  void Publish() {
    std::atomic_ref(*(is_producer_ ? producer_ : consumer_)).store(own_, std::memory_order_release);
  }
  void Swap(XdpRing& other) noexcept {
    std::swap(memory_, other.memory_), std::swap(bytes_, other.bytes_);
    std::swap(producer_, other.producer_), std::swap(consumer_, other.consumer_);
    std::swap(flags_, other.flags_), std::swap(entries_, other.entries_);
    std::swap(size_, other.size_), std::swap(own_, other.own_);
    std::swap(is_producer_, other.is_producer_);
  }

  std::byte* memory_ = nullptr;
  size_t bytes_ = 0;
  uint32_t *producer_ = nullptr, *consumer_ = nullptr, *flags_ = nullptr;
  T* entries_ = nullptr;
  uint32_t size_ = 0;
  uint32_t own_ = 0;  // the position of this process in the ring
  bool is_producer_ = false;
};

}  // namespace viaduct::io
