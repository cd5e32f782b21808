// The user-space end of a TUN or TAP device.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/fd.h"
#include "io/port.h"
#include "io/shared_counters.h"

namespace viaduct::io {

struct TunOptions {
  size_t max_frame = 65536;  // longer ones are counted as truncated, bytes
  // The device was opened with IFF_VNET_HDR: a header before each frame says what is still to be
  // done to it (io/super_frame.h does it), so that the kernel's stack need not (TUNSETOFFLOAD).
  bool vnet_header = false;
};

// One read or write per frame, in bounded bursts (the device has no batched interface).
//
// On a TUN device a frame is an IP packet: ReceivedFrame::bytes and FrameToSend start at the IP
// header, there is no link-layer header. On a TAP device they start at the destination MAC.
// Without vnet_header checksums are complete and no super-frames arrive unless somebody switched
// the device's offloads on (TUNSETOFFLOAD). There are no kernel time stamps: `received` is 0. No
// frame is ever in flight: a write hands it to the kernel's stack, which has received it then.
class TunPort final : public AnyPort {
 public:
  // `device`: opened with IFF_NO_PI; made non-blocking here. Throws SystemError.
  explicit TunPort(UniqueFd device, const TunOptions& options = {});
  TunPort(TunPort&&) = default;
  TunPort& operator=(TunPort&&) = default;
  // With vnet_header, the kernel does all again for who opens a persistent device after us.
  ~TunPort() override;

  size_t Receive(std::span<ReceivedFrame> frames) override;
  size_t Transmit(std::span<const FrameToSend> frames) override;
  int Fd() override { return device_.get(); }
  PortCounters Counters() override;  // any thread
  std::string Description() const override;

 private:
  static constexpr size_t kBurst = 64;

  // Bytes of memory for a frame and its header.
  size_t Room() const { return header_bytes_ + options_.max_frame + 1; }
  bool WriteFrame(FrameToSend frame, bool* again) const;

  UniqueFd device_;
  TunOptions options_;
  size_t header_bytes_;
  std::unique_ptr<std::byte[]> memory_;  // kBurst times Room()
  SharedCounters counters_;
};

}  // namespace viaduct::io
