// All frames of one interface, through an AF_PACKET ring (TPACKET_V2) and sendmmsg.
//
// Why so: of the ways Linux offers, a V2 receive ring with sendmmsg straight from the caller's
// memory was the fastest that keeps latency low (a V3 ring adds up to a millisecond, transmit
// rings and AF_XDP cost more per frame on veth).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/fd.h"
#include "io/port.h"

namespace viaduct::io {

struct RingOptions {
  int ifindex = 0;
  uint16_t ether_type = 0x0003;  // which frames; ETH_P_ALL unless said; host order
  uint32_t slots = 4096;         // frames the kernel can hand us between two Receive()
  // Bytes a ring slot holds; longer frames (offloads left on) take a slower way and arrive whole.
  // 0: the interface's MTU plus link-layer headers.
  uint32_t slot_bytes = 0;
  // Send past the queueing discipline (PACKET_QDISC_BYPASS): faster; off if the interface has a
  // qdisc that must shape what we send.
  bool qdisc_bypass = true;
};

// - Frames shorter than the minimum for the medium are not padded; FCS is not there.
// - VLAN tags that the kernel took out of a frame are put back in.
// - Frames are as the kernel had them: `checksum` and `gso_size` say what is missing
//   (io/super_frame.h completes it).
// - Our own transmissions are not received (PACKET_IGNORE_OUTGOING).
class RingPort final : public AnyPort {
 public:
  // `socket`: AF_PACKET, SOCK_RAW, protocol 0, not bound; filter, promiscuous mode and buffer sizes
  // as its maker set them. Sets up the ring, then binds, so that no foreign frame enters. Needs no
  // privilege. Throws SystemError.
  RingPort(UniqueFd socket, const RingOptions& options);
  RingPort(RingPort&&) noexcept;
  RingPort& operator=(RingPort&&) noexcept;
  ~RingPort();

  size_t Receive(std::span<ReceivedFrame> frames) override;
  size_t Transmit(std::span<const FrameToSend> frames) override;
  int Fd() override;
  PortCounters Counters() override;  // any thread
  bool Up() override;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace viaduct::io
