// An imitation, in memory, of the kernel's side of netmap's rings (netmap(4)), for an interface
// whose cable is the test.
#pragma once

#include <net/netmap_user.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <vector>

#include "base/error.h"
#include "port/netmap/port.h"

namespace viaduct::netmap {

// Imitates netmap's kernel module: the process owns the slots between `head` and `tail`, the kernel
// owns all others. The module moves `tail`, and reads `head` and the buffers, only in sync calls.
class FakeNetmap {
 public:
  struct Options {
    uint32_t slots = 64, buffer_bytes = 2048, receive_rings = 1, mtu = 1500;
  };
  explicit FakeNetmap(const Options& options)
      : options_(options),
        readable_(SystemCall("eventfd", eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))) {
    const uint32_t rings = 1 + options.receive_rings;
    const size_t ring_bytes = Aligned(sizeof(netmap_ring) + options.slots * sizeof(netmap_slot));
    const size_t start = Aligned(sizeof(netmap_if) + rings * sizeof(ssize_t));
    const size_t buffers = start + rings * ring_bytes;
    const size_t bytes = buffers + size_t{rings} * options.slots * options.buffer_bytes;
    memory_.reset(static_cast<std::byte*>(operator new(bytes, kAlign)));
    std::memset(memory_.get(), 0, bytes);
    interface_ = reinterpret_cast<netmap_if*>(memory_.get());
    std::strcpy(interface_->ni_name, "fake0");
    Set(interface_->ni_tx_rings, 1u);
    Set(interface_->ni_rx_rings, options.receive_rings);
    for (uint32_t ring = 0; ring < rings; ++ring) {
      const size_t at = start + ring * ring_bytes;
      Set(interface_->ring_ofs[ring], static_cast<ssize_t>(at));
      MakeRing(At(at), buffers - at, ring);
    }
  }

  Registered Register() {
    Registered registered;
    registered.interface = interface_;
    registered.fd = readable_.get();
    registered.mtu = options_.mtu;
    registered.sync = [this](unsigned long request) { return Sync(request); };
    registered.is_up = [this] { return is_up_; };
    return registered;
  }

  // Adds a frame that arrives from the cable at receive ring `number`.
  bool Arrive(std::span<const std::byte> frame, uint32_t number = 0) {
    waiting_.resize(options_.receive_rings);
    waiting_[number].emplace_back(frame.begin(), frame.end());
    eventfd_write(readable_.get(), 1);
    return true;
  }
  // Returns the frames that were sent to the cable since the last call.
  std::vector<std::vector<std::byte>> TakeSent() { return std::move(sent_); }
  // Makes the card send nothing while `on` is true.
  void Stall(bool on) { is_stalled_ = on; }
  void SetUp(bool up) { is_up_ = up; }
  void Remove() {
    is_removed_ = true;
    is_up_ = false;
  }
  netmap_ring& send_ring() { return *NETMAP_TXRING(interface_, 0); }
  netmap_ring& receive_ring(uint32_t ring = 0) { return *NETMAP_RXRING(interface_, ring); }

 private:
  static constexpr std::align_val_t kAlign{128};
  static constexpr size_t Aligned(size_t bytes) { return (bytes + 127) / 128 * 128; }
  struct Free {
    void operator()(std::byte* memory) const { operator delete(memory, kAlign); }
  };
  // Writes a field that netmap's headers declare const for the process.
  template <class T, class V>
  static void Set(const T& field, V value) {
    const_cast<T&>(field) = value;
  }
  netmap_ring& At(size_t offset) { return *reinterpret_cast<netmap_ring*>(memory_.get() + offset); }

  void MakeRing(netmap_ring& ring, size_t to_buffers, uint32_t number) {
    Set(ring.buf_ofs, static_cast<int64_t>(to_buffers));
    Set(ring.num_slots, options_.slots);
    Set(ring.nr_buf_size, options_.buffer_bytes);
    for (uint32_t slot = 0; slot < options_.slots; ++slot) {
      ring.slot[slot].buf_idx = number * options_.slots + slot;
    }
    if (number == 0) ring.tail = options_.slots - 1;  // the process owns all slots but one
  }

  int Sync(unsigned long request) {
    if (is_removed_) {
      errno = ENXIO;
      return -1;
    }
    if (request == NIOCTXSYNC) Send(send_ring());
    for (uint32_t i = 0; request == NIOCRXSYNC && i < options_.receive_rings; ++i) {
      Receive(receive_ring(i), i);
    }
    return 0;
  }

  void Send(netmap_ring& ring) {
    if (is_stalled_) return;
    std::vector<std::byte> frame;
    for (; sent_to_ != ring.head; sent_to_ = (sent_to_ + 1) % ring.num_slots) {
      const netmap_slot& slot = ring.slot[sent_to_];
      const auto* const bytes = reinterpret_cast<const std::byte*>(NETMAP_BUF(&ring, slot.buf_idx));
      frame.insert(frame.end(), bytes, bytes + slot.len);
      if ((slot.flags & NS_MOREFRAG) != 0) continue;
      sent_.push_back(std::exchange(frame, {}));
    }
    ring.tail = (ring.head + ring.num_slots - 1) % ring.num_slots;
  }

  void Receive(netmap_ring& ring, uint32_t number) {
    waiting_.resize(options_.receive_rings);
    auto& waiting = waiting_[number];
    if ((ring.flags & NR_TIMESTAMP) != 0) ring.ts = {.tv_sec = 1000, .tv_usec = 5};
    eventfd_t ignored = 0;
    if (waiting.empty()) return;
    while (!waiting.empty()) {
      const std::vector<std::byte>& frame = waiting.front();
      const uint32_t slots = static_cast<uint32_t>(
          std::max<size_t>(1, (frame.size() + options_.buffer_bytes - 1) / options_.buffer_bytes));
      // One slot always stays with the kernel, so that a full ring differs from an empty ring.
      const uint32_t room = (ring.head + ring.num_slots - ring.tail - 1) % ring.num_slots;
      if (slots > room) break;
      for (uint32_t part = 0; part < slots; ++part) {
        netmap_slot& slot = ring.slot[ring.tail];
        const size_t at = size_t{part} * options_.buffer_bytes;
        slot.len =
            static_cast<uint16_t>(std::min<size_t>(options_.buffer_bytes, frame.size() - at));
        slot.flags = part + 1 < slots ? NS_MOREFRAG : 0;
        std::memcpy(NETMAP_BUF(&ring, slot.buf_idx), frame.data() + at, slot.len);
        ring.tail = (ring.tail + 1) % ring.num_slots;
      }
      waiting.pop_front();
    }
    if (waiting.empty()) (void)eventfd_read(readable_.get(), &ignored);
  }

  Options options_;
  UniqueFd readable_;
  std::unique_ptr<std::byte, Free> memory_;
  netmap_if* interface_ = nullptr;
  std::vector<std::deque<std::vector<std::byte>>> waiting_;
  std::vector<std::vector<std::byte>> sent_;
  uint32_t sent_to_ = 0;
  bool is_stalled_ = false, is_up_ = true, is_removed_ = false;
};

}  // namespace viaduct::netmap
