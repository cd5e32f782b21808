// The header before each frame in packet sockets with PACKET_VNET_HDR and TAP devices with
// IFF_VNET_HDR. It is struct virtio_net_hdr of linux/virtio_net.h, which is not valid C++
// everywhere, in the host's byte order.
#pragma once

#include <cstdint>

#include "port/port.h"

namespace viaduct::io {

struct VnetHeader {
  static constexpr uint8_t kNeedsChecksum = 1;  // VIRTIO_NET_HDR_F_NEEDS_CSUM
  static constexpr uint8_t kNoGso = 0;          // VIRTIO_NET_HDR_GSO_NONE
  uint8_t flags;
  uint8_t gso_type;
  uint16_t header_length;
  uint16_t gso_size;
  uint16_t checksum_start;
  uint16_t checksum_offset;

  // Sets the fields of `frame` that describe what must still be done to it: checksum and
  // segmentation.
  void Describe(ReceivedFrame& frame) const {
    if ((flags & kNeedsChecksum) != 0) {
      frame.checksum = Checksum::kPartial;
      frame.checksum_start = checksum_start;
      frame.checksum_offset = checksum_offset;
    }
    if (gso_type != kNoGso) frame.gso_size = gso_size;
  }
};
static_assert(sizeof(VnetHeader) == 10);

}  // namespace viaduct::io
