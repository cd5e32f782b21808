// The device side of one virtio network interface: the setup by vhost-user messages, and the
// exchange of frames through the device's rings. The device side uses neither sockets nor time.
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

// The back end of a network interface. The device offers neither checksum nor segmentation offload,
// so frames are complete. Any fault of the guest throws Error.
class NetBackend {
 public:
  static constexpr uint32_t kRxQueue = 0;
  static constexpr uint32_t kTxQueue = 1;
  // The maximum length in bytes of a guest's frame: Linux's largest MTU, an Ethernet header and two
  // VLAN tags.
  static constexpr size_t kMaxFrame = 65535 + 14 + 2 * 4;

  // If `carrier` is false, no link status is offered to the driver, which then assumes that the
  // link is always up. Otherwise the driver sends nothing until it has read the link status.
  NetBackend(const wire::MacAddress& mac, bool carrier);
  NetBackend(const NetBackend&) = delete;
  NetBackend& operator=(const NetBackend&) = delete;

  // Handles a message of the driver and returns the answer to send, if the message needs an answer.
  // Takes ownership of the message's descriptors. For kVringKick, this function only makes the
  // answer; the caller must act on the notification.
  std::optional<std::vector<std::byte>> Handle(VhostMessage& message);
  // Passes the channel for interrupts to the caller; empty until the guest has sent the channel.
  UniqueFd TakeSlaveChannel() { return std::move(slave_channel_); }

  // Puts a frame into the guest's receive ring. A frame longer than one buffer takes several
  // buffers. Returns false, with the ring unchanged, if the ring has no space for the complete
  // frame.
  bool PutFrame(std::span<const std::byte> frame);
  // Copies the next frame of the transmit ring, without its virtio header, to `frame`. Returns the
  // number with which ReturnFrame() returns the frame's buffers; nullopt if there is no frame.
  // Throws Error if the frame is longer than kMaxFrame.
  std::optional<uint16_t> TakeFrame(std::vector<std::byte>& frame);
  void ReturnFrame(uint16_t head);
  // Returns whether the driver wants an interrupt after the device has changed the queue.
  bool WantsInterrupt(uint32_t queue) const;
  // Returns whether the driver is ready for interrupts and frames.
  bool ready() const { return queues_[kRxQueue].ready() && queues_[kTxQueue].ready(); }

  // Sets the link status that the guest reads; initially the link is up. The caller must notify the
  // guest.
  void SetLink(bool up);

 private:
  using Reply = std::optional<std::vector<std::byte>>;

  Virtqueue& Queue(uint32_t index);
  void SetMemory(VhostMessage& message);
  Reply Config(const VhostMessage& message) const;

  uint64_t features_;
  std::array<std::byte, 8> config_{};  // struct virtio_net_config: the MAC address, the link status
  GuestMemory memory_;
  std::array<Virtqueue, 2> queues_;
  UniqueFd slave_channel_;
  // The buffers that PutFrame() uses, kept to avoid allocations.
  std::vector<std::span<std::byte>> buffers_;
  mutable std::vector<std::span<std::byte>> reading_;
};

}  // namespace viaduct::guest
