// The rings between this process and a guest's kernel that serves sockets (patch 0011, struct
// um_timetravel_schedshm_sockets of include/uapi/linux/um_timetravel.h): one ring for operations to
// the kernel, and one ring for events from the kernel.
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

// This process's end of the rings. The guest can write to all of the rings' memory at any time:
// every value is read once and not trusted.
class SocketRing {
 public:
  static constexpr size_t kRing = size_t{256} * 1024;  // the size of each ring in bytes
  static constexpr size_t kControl = 4096;             // the size of heads and tails in bytes
  static constexpr size_t kSize = kControl + 2 * kRing;
  // The maximum number of bytes that the kernel receives at once, and the maximum sizes in bytes of
  // a message's metadata: the sender's address and the control messages.
  static constexpr size_t kMaxPiece = size_t{64} * 1024;
  static constexpr size_t kMaxName = 28;
  static constexpr size_t kMaxControl = 256;

  // `memory`: kSize bytes, initially all zeros, which must outlive this object.
  explicit SocketRing(std::byte* memory);

  // Puts an operation into the ring; its payload is the concatenation of `parts`. An operation for
  // which the ring has no space is kept, and Refill() puts it into the ring. Throws UsageError if
  // the operation is larger than the ring.
  void Put(const SocketOperation& operation,
           std::initializer_list<std::span<const std::byte>> parts);
  // Removes the events of a waiting guest from the ring and calls `each` for every event. Throws
  // Error if the content of the ring is not valid.
  void Take(const std::function<void(SocketEvent)>& each);
  // Puts the kept operations for which the ring has space into the ring. Returns whether the guest
  // must run once more at this instant: because it was given further operations, or because it has
  // stopped when the ring had no space for its events. Throws Error if the content of the ring is
  // not valid.
  bool Refill();
  // Returns whether operations are kept for which the ring had no space.
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
  uint32_t head_ = 0;  // the head of the ring of operations
  uint32_t tail_ = 0;  // the tail of the ring of events
  std::deque<std::vector<std::byte>> waiting_;
};

}  // namespace viaduct::guest
