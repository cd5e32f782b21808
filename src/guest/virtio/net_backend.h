// The device side of one virtio network interface: what vhost-user messages set up, and frames in
// and out of its rings. No sockets, no time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/fd.h"
#include "guest/virtio/guest_memory.h"
#include "guest/virtio/vhost_message.h"
#include "guest/virtio/virtqueue.h"
#include "wire/address.h"

namespace viaduct::guest {

// Offers no checksum and no segmentation offload: frames are complete. Whatever the guest does
// wrong throws Error.
class NetBackend {
 public:
  static constexpr uint32_t kRxQueue = 0;
  static constexpr uint32_t kTxQueue = 1;

  // Without `carrier` the driver is not told of a link: it takes it to be there from the first
  // moment on, where it else sends nothing until it has read the link's state.
  NetBackend(const wire::MacAddress& mac, bool carrier);
  NetBackend(const NetBackend&) = delete;
  NetBackend& operator=(const NetBackend&) = delete;

  // Does what a message asks; the answer to send, if it wants one. Descriptors that come with
  // it are taken. A kVringKick is answered but left to the caller to act on.
  std::optional<std::vector<std::byte>> Handle(VhostMessage& message);
  // The channel for interrupts, once the guest has passed it; the caller takes it.
  UniqueFd TakeSlaveChannel() { return std::move(slave_channel_); }

  // Puts a frame into the guest's receive ring; false when there is no room for all of it (the ring
  // is as before). Frames longer than one buffer take several.
  bool PutFrame(std::span<const std::byte> frame);
  // A frame of the transmit ring, copied to `frame` without its virtio header, and the number
  // by which ReturnFrame() gives its buffers back; nothing when there is none.
  std::optional<uint16_t> TakeFrame(std::vector<std::byte>& frame);
  void ReturnFrame(uint16_t head);
  // Whether the driver wants to hear of what was put into or returned on a queue.
  bool WantsInterrupt(uint32_t queue) const;
  // Whether the driver can be interrupted and given frames.
  bool ready() const { return queues_[kRxQueue].ready() && queues_[kTxQueue].ready(); }

  // The link's state as the guest reads it, true at first. The caller tells the guest to read.
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
  // Memory of PutFrame(), kept.
  std::vector<std::span<std::byte>> buffers_;
  mutable std::vector<std::span<std::byte>> reading_;
};

}  // namespace viaduct::guest
