// The rings between this process and a guest's kernel that serves sockets (patch 0011, struct
// um_timetravel_schedshm_sockets of include/uapi/linux/um_timetravel.h): operations to the kernel,
// events from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "guest/time/socket_service.h"

namespace viaduct::guest {

// This process's end. The guest can write to all of the memory at any time: everything is read once
// and not trusted.
class SocketRing {
 public:
  static constexpr size_t kRing = size_t{256} * 1024;  // bytes of each ring
  static constexpr size_t kControl = 4096;             // heads and tails
  static constexpr size_t kSize = kControl + 2 * kRing;
  // The maximum bytes that the kernel receives at once, and of a message's metadata: its sender's
  // address and control messages.
  static constexpr size_t kMaxPiece = size_t{64} * 1024;
  static constexpr size_t kMaxName = 28;
  static constexpr size_t kMaxControl = 256;

  // `memory`: kSize bytes, all zeros at first; must outlive the object.
  explicit SocketRing(std::byte* memory);

  // Puts an operation into the ring; its payload is the concatenation of `parts`. An operation that
  // does not fit is kept and follows with Refill(). Throws UsageError if it is larger than the
  // ring.
  void Put(const SocketOperation& operation,
           std::initializer_list<std::span<const std::byte>> parts);
  // Calls `each` for every event of a guest that waits. Throws Error if the ring is not valid.
  void Take(const std::function<void(SocketEvent)>& each);
  // Puts the kept operations that fit. Returns whether the guest must be run once more at this
  // instant: it was given more, or has stopped because its events did not fit. Throws Error if the
  // ring is not valid.
  bool Refill();
  // Whether operations are kept that did not fit.
  bool Keeps() const { return !waiting_.empty(); }

 private:
  struct Control;
  struct Header;
  struct Ancillary;

  uint32_t Room() const;
  SocketEvent TakeEvent(const Header& header) const;
  void Write(std::span<const std::byte> record);
  void Read(uint32_t at, std::span<std::byte> bytes) const;

  Control* control_;
  std::byte* operations_;
  const std::byte* events_;
  uint32_t head_ = 0;  // the head of the operations
  uint32_t tail_ = 0;  // the tail of the events
  std::deque<std::vector<std::byte>> waiting_;
};

}  // namespace viaduct::guest
