// The user-space end of a TUN or TAP device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/fd.h"
#include "port/port.h"
#include "port/shared_counters.h"

namespace viaduct::io {

struct TunOptions {
  size_t max_frame = 65536;  // bytes; longer frames are counted as truncated
  // Whether the device was opened with IFF_VNET_HDR. If so, a header before each frame describes
  // what must still be done to the frame (port/super_frame.h does it), and the kernel's stack need
  // not do it (TUNSETOFFLOAD).
  bool vnet_header = false;
  // A function that returns the number of frames that the kernel has dropped because its queue to
  // this process was full. The count may begin at any time. The device itself does not report this
  // number. Counters() calls the function on any thread. If the function is empty, the number is
  // not known.
  std::function<uint64_t()> kernel_drops = {};
};

// The kernel's end of a TAP device. A TunPort that has a TunInterface knows whether the interface
// passes frames, and which frames are too long for the interface.
struct TunInterface {
  UniqueFd control;  // any socket in the interface's network namespace
  int ifindex = 0;
};

// A port on a TUN or TAP device. Reads or writes one frame per system call, in bounded bursts (the
// device has no batched interface).
//
// On a TUN device a frame is an IP packet: ReceivedFrame::bytes and FrameToSend start at the IP
// header, without a link-layer header. On a TAP device both start at the destination MAC address.
// If vnet_header is not set, checksums are complete and no super-frames arrive, unless a process
// switched the device's offloads on (TUNSETOFFLOAD). There are no kernel time stamps: `received` is
// 0. No frame is ever in flight: a write passes a frame to the kernel's stack, which has then
// received it. Once the device is gone, the port receives nothing, and refuses frames.
class TunPort final : public AnyPort {
 public:
  // `device`: opened with IFF_NO_PI; the constructor makes it non-blocking. Throws SystemError.
  // `interface`: if it is given, the port refuses frames longer than the interface's MTU (not
  // counting a VLAN tag), as an AF_PACKET socket does, though the kernel would take them.
  explicit TunPort(UniqueFd device, TunOptions options = {}, TunInterface interface = {});
  TunPort(TunPort&&) = default;
  TunPort& operator=(TunPort&&) = default;
  // If vnet_header is set, makes the kernel complete frames again, for the next process that opens
  // a persistent device.
  ~TunPort() override;

  size_t Receive(std::span<ReceivedFrame> frames) override;
  size_t Transmit(std::span<const FrameToSend> frames) override;
  std::span<const uint32_t> Refused() const override { return refused_; }
  int fd() override { return device_.get(); }
  PortCounters Counters() override;  // any thread may call it
  uint32_t Mtu() const override { return mtu_; }
  bool Up() override;
  std::string Description() const override;

 private:
  static constexpr size_t kBurst = 64;

  // Returns the bytes of memory for a frame and its header, plus one byte to detect truncation.
  size_t Room() const { return header_bytes_ + options_.max_frame + 1; }
  bool WriteFrame(FrameToSend frame, bool* again) const;
  // Returns the length of the longest frame that the interface carries now, with the Ethernet
  // header but without a VLAN tag; if the port has no TunInterface, there is no limit.
  size_t MostNow() const;
  void BecomeSilent();

  UniqueFd device_;
  TunOptions options_;
  TunInterface interface_;
  uint32_t mtu_ = 1500;
  uint64_t drops_before_ = 0;
  std::vector<uint32_t> refused_;
  size_t header_bytes_;
  std::unique_ptr<std::byte[]> memory_;  // kBurst times Room() bytes
  SharedCounters counters_;
};

}  // namespace viaduct::io
