// The device side of one virtio network interface: its setup by vhost-user messages, and frames
// into and out of its rings. Uses neither sockets nor time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/fd.h"
#include "base/wire/address.h"
#include "guest/virtio/guest_memory.h"
#include "guest/virtio/vhost_message.h"
#include "guest/virtio/virtqueue.h"

namespace viaduct::guest {

// The device offers neither checksum nor segmentation offload: frames are complete. Any fault of
// the guest throws Error.
class NetBackend {
 public:
  static constexpr uint32_t kRxQueue = 0;
  static constexpr uint32_t kTxQueue = 1;
  // The maximum length of a guest's frame: Linux's largest MTU, an Ethernet header and two VLAN
  // tags.
  static constexpr size_t kMaxFrame = 65535 + 14 + 2 * 4;

  // If not `carrier`, no link status is offered to the driver: it then assumes the link to be up
  // from the start, whereas otherwise it sends nothing until it has read the link's status.
  NetBackend(const wire::MacAddress& mac, bool carrier);
  NetBackend(const NetBackend&) = delete;
  NetBackend& operator=(const NetBackend&) = delete;

  // Handles a message and returns the answer to send, if it needs one. Takes ownership of its
  // descriptors. A kVringKick is answered, but the caller must act on it.
  std::optional<std::vector<std::byte>> Handle(VhostMessage& message);
  // Passes the channel for interrupts to the caller, once the guest has sent it.
  UniqueFd TakeSlaveChannel() { return std::move(slave_channel_); }

  // Puts a frame into the guest's receive ring; returns false when there is no space for all of it
  // (the ring is unchanged). A frame longer than one buffer takes several.
  bool PutFrame(std::span<const std::byte> frame);
  // Copies a frame of the transmit ring to `frame` without its virtio header and returns the number
  // for ReturnFrame(), which returns its buffers; nullopt when there is none. Throws Error for a
  // frame longer than kMaxFrame.
  std::optional<uint16_t> TakeFrame(std::vector<std::byte>& frame);
  void ReturnFrame(uint16_t head);
  // Returns whether the driver wants an interrupt after changes of a queue.
  bool WantsInterrupt(uint32_t queue) const;
  // Whether the driver is ready for interrupts and frames.
  bool ready() const { return queues_[kRxQueue].ready() && queues_[kTxQueue].ready(); }

  // Sets the link's status that the guest reads, initially true. The caller must notify the guest.
  void SetLink(bool up);

 private:
  using Reply = std::optional<std::vector<std::byte>>;

  Virtqueue& Queue(uint32_t index);
  void SetMemory(VhostMessage& message);
  Reply Config(const VhostMessage& message) const;

  uint64_t features_;
  std::array<std::byte, 8> config_{};  // struct virtio_net_config: MAC, status
  GuestMemory memory_;
  std::array<Virtqueue, 2> queues_;
  UniqueFd slave_channel_;
  // Buffers of PutFrame(), kept to avoid allocations.
  std::vector<std::span<std::byte>> buffers_;
  mutable std::vector<std::span<std::byte>> reading_;
};

}  // namespace viaduct::guest
