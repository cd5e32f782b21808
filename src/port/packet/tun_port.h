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
  // The device was opened with IFF_VNET_HDR: a header before each frame describes what remains to
  // be done to it (port/super_frame.h does it), so that the kernel's stack need not
  // (TUNSETOFFLOAD).
  bool vnet_header = false;
  // Returns the number of frames that the kernel has dropped, counted from any time, because its
  // queue to this process was full. The device itself does not report it. For Counters(), any
  // thread; empty: not known.
  std::function<uint64_t()> kernel_drops = {};
};

// The kernel's end of a TAP device: with it a port knows whether frames can pass, and which are too
// long.
struct TunInterface {
  UniqueFd control;  // any socket in its namespace
  int ifindex = 0;
};

// Reads or writes one frame per call, in bounded bursts (the device has no batched interface).
//
// On a TUN device a frame is an IP packet: ReceivedFrame::bytes and FrameToSend start at the IP
// header, there is no link-layer header. On a TAP device they start at the destination MAC. Without
// vnet_header checksums are complete and no super-frames arrive unless a process switched the
// device's offloads on (TUNSETOFFLOAD). There are no kernel time stamps: `received` is 0. No frame
// is ever in flight: a write passes it to the kernel's stack, which has received it then. Once the
// device is gone the port is silent, and refuses frames.
class TunPort final : public AnyPort {
 public:
  // `device`: opened with IFF_NO_PI; made non-blocking here. Throws SystemError.
  // `interface`: with it, frames longer than its MTU (not counting a VLAN tag) are refused, as by
  // an AF_PACKET socket, though the kernel would take them.
  explicit TunPort(UniqueFd device, TunOptions options = {}, TunInterface interface = {});
  TunPort(TunPort&&) = default;
  TunPort& operator=(TunPort&&) = default;
  // With vnet_header, makes the kernel complete frames again, for the next process that opens a
  // persistent device.
  ~TunPort() override;

  size_t Receive(std::span<ReceivedFrame> frames) override;
  size_t Transmit(std::span<const FrameToSend> frames) override;
  std::span<const uint32_t> Refused() const override { return refused_; }
  int fd() override { return device_.get(); }
  PortCounters Counters() override;  // any thread
  uint32_t Mtu() const override { return mtu_; }
  bool Up() override;
  std::string Description() const override;

 private:
  static constexpr size_t kBurst = 64;

  // Bytes of memory for a frame and its header.
  size_t Room() const { return header_bytes_ + options_.max_frame + 1; }
  bool WriteFrame(FrameToSend frame, bool* again) const;
  // Returns the maximum frame that the interface carries now, Ethernet header included, VLAN tag
  // not; without an interface: no limit.
  size_t MostNow() const;
  void BecomeSilent();

  UniqueFd device_;
  TunOptions options_;
  TunInterface interface_;
  uint32_t mtu_ = 1500;
  uint64_t drops_before_ = 0;
  std::vector<uint32_t> refused_;
  size_t header_bytes_;
  std::unique_ptr<std::byte[]> memory_;  // kBurst times Room()
  SharedCounters counters_;
};

}  // namespace viaduct::io
