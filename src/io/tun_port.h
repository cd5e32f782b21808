// The user-space end of a TUN or TAP device.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/fd.h"
#include "io/port.h"

namespace viaduct::io {

// One read or write per frame, in bounded bursts (the device has no batched interface).
//
// On a TUN device a frame is an IP packet: ReceivedFrame::bytes and FrameToSend start at the IP
// header, there is no link-layer header. On a TAP device they start at the destination MAC.
// Checksums are complete and no super-frames arrive unless somebody switched the device's offloads
// on (TUNSETOFFLOAD). There are no kernel time stamps: `received` is 0. No frame is ever in flight:
// a write hands it to the kernel's stack, which has received it then.
class TunPort final : public AnyPort {
 public:
  // `device`: opened with IFF_NO_PI and without IFF_VNET_HDR; made non-blocking here.
  // Frames over `max_frame` bytes are counted as truncated. Throws SystemError.
  explicit TunPort(UniqueFd device, size_t max_frame = 65536);

  size_t Receive(std::span<ReceivedFrame> frames) override;
  size_t Transmit(std::span<const FrameToSend> frames) override;
  int Fd() override { return device_.get(); }
  PortCounters Counters() override { return counters_; }

 private:
  static constexpr size_t kBurst = 64;

  UniqueFd device_;
  size_t max_frame_;
  std::unique_ptr<std::byte[]> memory_;  // kBurst frames of max_frame_ + 1 bytes
  PortCounters counters_;
};

}  // namespace viaduct::io
